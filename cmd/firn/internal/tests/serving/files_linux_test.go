package serving

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// A server with few files has twice as many silent clients, which come again when they are cut. Its lease goes on, so an old
// connection gets IDs, and health is answered.
func TestSilentClientsAndFewFiles(t *testing.T) {
	const files, clients, window = 300, 600, 4 * time.Second
	dir := t.TempDir()
	config := filepath.Join(dir, "firn.toml")
	testkit.OK(t, os.WriteFile(config, fmt.Appendf(nil, "[lease]\nwindow = %q\n", window), 0o600))
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	server := process.Node{Name: "server", Log: filepath.Join(dir, "log"), Env: environment(), Command: []string{"sh", "-c", fmt.Sprintf(`ulimit -n %d; exec "$@"`, files), "sh",
		program, "serve", "--config", config, "--listen", address, "--state", filepath.Join(dir, "pools")}}
	testkit.OK(t, server.Start())
	t.Cleanup(server.Kill)
	var old net.Conn
	wait.Until(t, "the server answers", func() (ok bool) {
		var err error
		old, err = net.Dial("tcp", address)
		return err == nil
	})
	defer old.Close()
	c, in := &crowd{}, bufio.NewReader(old)
	incr := func() error {
		old.SetDeadline(time.Now().Add(wait.Patience))
		return c.incr(old, in)
	}
	wait.Until(t, "the first ID", func() bool { return incr() == nil })

	ctx, cancel := context.WithCancel(t.Context())
	var silent sync.WaitGroup
	defer silent.Wait()
	defer cancel()
	for range clients {
		silent.Go(func() {
			for ctx.Err() == nil {
				if c, err := net.Dial("tcp", address); err == nil {
					stop := context.AfterFunc(ctx, func() { c.Close() })
					io.Copy(io.Discard, c)
					stop()
					c.Close()
				}
				pause(ctx, 200*time.Millisecond)
			}
		})
	}
	probe := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: wait.Patience}
	for began := time.Now(); time.Since(began) < 5*window/2; time.Sleep(20 * time.Millisecond) {
		if err := incr(); err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
			answer, err := probe.Get("http://" + address + path)
			for range 2 { // as supervisors do: a busy machine can be late with the answer
				if err != nil {
					answer, err = probe.Get("http://" + address + path)
				}
			}
			if err != nil {
				t.Fatalf("after %v: %v", time.Since(began), err)
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Fatalf("after %v: %s: %s %s", time.Since(began), path, answer.Status, body)
			}
		}
	}
	if log, _ := os.ReadFile(server.Log); strings.Contains(string(log), "too many open files") {
		t.Errorf("%s", log)
	}
}

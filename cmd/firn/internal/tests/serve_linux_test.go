package tests

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/nanoflake"
)

// A served is a firn serve that runs.
type served struct {
	*testing.T
	cmd     *exec.Cmd
	log     process.Logbook
	address string // the first of the log
	ended   chan struct{}
}

var loopbackAddress = regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*`)

// serve starts firn serve at a free port, and waits until the server listens.
func serve(t *testing.T, args ...string) *served {
	t.Helper()
	s := runServe(t, firnCommand(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...))
	s.until("an address", func() bool { s.address = loopbackAddress.FindString(s.log.String()); return s.address != "" })
	return s
}

// runServe starts a command.
func runServe(t *testing.T, cmd *exec.Cmd) *served {
	t.Helper()
	s := &served{T: t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stderr = &s.log
	start(t, cmd)
	go func() {
		cmd.Wait()
		close(s.ended)
	}()
	return s
}

// until waits for a condition, as long as the server runs.
func (s *served) until(what string, is func() bool) {
	s.Helper()
	for deadline := time.Now().Add(wait.Patience); !is(); time.Sleep(10 * time.Millisecond) {
		select {
		case <-s.ended:
			s.Fatalf("firn serve has ended, without %s: %s", what, &s.log)
		default:
		}
		if time.Now().After(deadline) {
			s.Fatalf("no %s: %s", what, &s.log)
		}
	}
}

// get returns the status and the body of a request by HTTP.
func (s *served) get(path, token string) (int, string) {
	s.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://"+s.address+path, nil)
	check(s.T, err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	check(s.T, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	check(s.T, err)
	return answer.StatusCode, string(body)
}

// end ends the server by a signal, and demands the exit code 0.
func (s *served) end(sig syscall.Signal) {
	s.Helper()
	check(s.T, s.cmd.Process.Signal(sig))
	select {
	case <-s.ended:
	case <-time.After(wait.Patience):
		s.Fatalf("the server goes on: %s", &s.log)
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.Errorf("exit code %d after %v: %s", code, sig, &s.log)
	}
}

// TestServe: one port answers RESP and HTTP, and the server gives its worker back at its end.
func TestServe(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		state := t.TempDir()
		s := serve(t, "--state", state)
		if code, body := s.get("/v1/generators/nanoflake/ids?n=3", ""); code != http.StatusOK || strings.Count(body, `"`) < 6 {
			t.Errorf("%d: %s", code, body)
		}
		conn, err := net.Dial("tcp", s.address)
		check(t, err)
		fmt.Fprint(conn, "*2\r\n$4\r\nINCR\r\n$9\r\nnanoflake\r\n*1\r\n$4\r\nQUIT\r\n")
		answer, err := io.ReadAll(conn)
		if err != nil || !regexp.MustCompile(`^:\d{15,}\r\n\+OK\r\n$`).Match(answer) {
			t.Errorf("%q, %v", answer, err)
		}
		if !strings.Contains(s.log.String(), "lease.event=acquired") {
			t.Errorf("the log has no lease: %s", &s.log)
		}
		s.end(sig)
		if strings.Contains(s.log.String(), "level=ERROR") {
			t.Errorf("an error in the log: %s", &s.log)
		}
		if out, stderr, code := firnRun(t, "", "pool", "show", "nanoflake", "--state", state); code != 0 || !strings.Contains(out, "free") {
			t.Errorf("exit code %d: the worker was not given back: %s%s", code, out, stderr)
		}
	}
}

// TestServeWithoutStore: a server starts while its store is down. Formats without workers work.
func TestServeWithoutStore(t *testing.T) {
	s := serve(t, "--store", "postgres://me:hunter2@127.0.0.1:1/db")
	if code, body := s.get("/v1/generators/scru160/ids", ""); code != http.StatusOK {
		t.Errorf("%d: %s", code, body)
	}
	if code, body := s.get("/v1/generators/sno/ids", ""); code != http.StatusServiceUnavailable || !strings.Contains(body, "starting") || strings.Contains(body, "hunter2") {
		t.Errorf("%d: %s", code, body)
	}
	s.until("a word about the store", func() bool { return strings.Contains(s.log.String(), "generator=sno store=postgres://127.0.0.1:1/db") })
	s.end(syscall.SIGTERM)
	if strings.Contains(s.log.String(), "hunter2") {
		t.Errorf("a secret in the log: %s", &s.log)
	}
}

// TestServeTokens: SIGHUP reads the tokens again, and the server does so by itself, too.
func TestServeTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.toml")
	tokens := func(names ...string) {
		var text strings.Builder
		for _, name := range names {
			fmt.Fprintf(&text, "[tokens.%s]\ntoken = \"the-token-of-%s\"\n", name, name)
		}
		check(t, os.WriteFile(path, []byte(text.String()), 0o600))
	}
	tokens("one")
	s := serve(t, "--tokens", path)
	status := func(token string) int {
		code, _ := s.get("/v1/generators/scru160/ids", token)
		return code
	}
	if status("") != http.StatusUnauthorized || status("the-token-of-two") != http.StatusUnauthorized || status("the-token-of-one") != http.StatusOK {
		t.Error("the tokens are not those of the file")
	}
	tokens("one", "two")
	check(t, s.cmd.Process.Signal(syscall.SIGHUP))
	s.until("a second token", func() bool { return status("the-token-of-two") == http.StatusOK })
	tokens("two")
	s.until("a revoked token", func() bool { return status("the-token-of-one") == http.StatusUnauthorized })
	s.end(syscall.SIGTERM)
	if strings.Contains(s.log.String(), "the-token-of") {
		t.Errorf("a token in the log: %s", &s.log)
	}
}

// TestServeSockets: an error of a socket names the flag and the remedy.
func TestServeSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	dir := t.TempDir()
	live, err := net.Listen("unix", filepath.Join(dir, "live"))
	check(t, err)
	defer live.Close()
	check(t, os.WriteFile(filepath.Join(dir, "plain"), nil, 0o600))
	for _, c := range []struct{ flag, address, want string }{
		{"--listen", l.Addr().String(), "Another program listens there: end it, or choose another address."},
		{"--resp", l.Addr().String(), "Another program listens there: end it, or choose another address."},
		{"--resp", "192.0.2.1:0", "Choose another address."}, // of documents
		{"--unix", filepath.Join(dir, "live"), "Another program listens there: end it, or choose another address."},
		{"--unix", filepath.Join(dir, "plain"), "The file there is no socket."},
		{"--unix", filepath.Join(dir, "none", "s"), "Create the directory, or choose another path."},
		{"--unix", filepath.Join(dir, "plain", "s"), "Choose another address."},
	} {
		_, stderr, code := firnRun(t, "", "serve", "--insecure", "--listen", "127.0.0.1:0", c.flag, c.address)
		if code != 1 || !strings.Contains(stderr, "firn: listen on "+c.address+": ") || !strings.HasSuffix(stderr, "\n  "+c.want+"  "+c.flag+"\n") {
			t.Errorf("%s %s: exit code %d: %s", c.flag, c.address, code, stderr)
		}
	}
	// The hints are followed.
	check(t, os.Mkdir(filepath.Join(dir, "none"), 0o700), live.Close())
	for _, args := range [][]string{
		{"--resp", "127.0.0.1:0"},                // another address
		{"--unix", filepath.Join(dir, "other")},  // another path
		{"--unix", filepath.Join(dir, "none/s")}, // the directory is made
		{"--unix", filepath.Join(dir, "live")},   // the other program has ended
	} {
		serve(t, args...).end(syscall.SIGTERM)
	}
}

// TestServeTrustClock: a server refuses a clock that the pool contradicts, until its file says that the clock is right.
func TestServeTrustClock(t *testing.T) {
	dir, config := filepath.Join(t.TempDir(), "pools"), filepath.Join(t.TempDir(), "firn.toml")
	g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: func() time.Time { return time.Now().AddDate(9, 0, 0) }})
	check(t, err)
	l, err := startIn(t.Context(), dir, g, lease.Config{Create: true, Timeout: time.Minute})
	check(t, err, l.Close())
	serves := func(more string) *served {
		check(t, os.WriteFile(config, []byte("[generators.nanoflake]\nformat = \"nanoflake\"\n"+more), 0o600))
		return serve(t, "--state", dir, "--config", config)
	}
	ids := func(s *served) int {
		status, _ := s.get("/v1/generators/nanoflake/ids", "")
		return status
	}
	const remedy, hint = "remedy=clock", "trust-clock = true under [lease] in the file of --config"
	looks := func() (string, int) {
		said, err := output(t, firnCommand(t, "serve", "--check", "--state", dir, "--config", config))
		return said, exitCode(err)
	}
	s := serves("")
	s.until("the remedy", func() bool {
		ids(s) // the first request leases a worker
		return strings.Contains(s.log.String(), remedy)
	})
	if said, code := looks(); code != 1 || !strings.Contains(said, hint) {
		t.Errorf("firn serve --check: exit code %d: %s", code, said)
	}
	for _, path := range []string{"/v1/generators/nanoflake/ids", "/v1/generators/nanoflake"} {
		if _, body := s.get(path, ""); !strings.Contains(body, "the clock is wrong") {
			t.Errorf("%s is without the fault: %s", path, body)
		}
	}
	s.end(syscall.SIGTERM)
	s = serves("[lease]\ntrust-clock = true\n")
	s.until("an ID", func() bool { return ids(s) == http.StatusOK })
	if said, code := looks(); code != 0 || strings.Contains(said, "clock") {
		t.Errorf("firn serve --check: exit code %d: %s", code, said)
	}
	s.end(syscall.SIGTERM)
}

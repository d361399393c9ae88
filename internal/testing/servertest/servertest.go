// Package servertest runs real servers of Consul and of Kubernetes for tests. The servers are
// processes of this machine on loopback ports. A test can kill, stop and restart the servers.
//
// Modules in dev/pins pin the versions of the servers. Building both servers takes
// about ten minutes on two cores, and 4 GB of disk. The go command keeps the binaries. Tests skip
// unless FIRN_REAL_SERVERS=1 is in the environment:
//
//	FIRN_REAL_SERVERS=1 go test -C dev -timeout 1h ./servers
//	FIRN_REAL_SERVERS=1 go test -timeout 1h ./cmd/firn/internal/tests/faults
//
// FIRN_CONSUL_SERVER and FIRN_KUBE_APISERVER name other binaries to run instead.
package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/wait"
)

// Require skips a test that runs real servers, unless FIRN_REAL_SERVERS=1 asks for them.
func Require(t testing.TB) {
	t.Helper()
	if os.Getenv("FIRN_REAL_SERVERS") != "1" {
		t.Skip("real servers of Consul and Kubernetes take ten minutes to build: set FIRN_REAL_SERVERS=1 to run the test, and -timeout 1h")
	}
}

// program returns the path of a server's binary, from the variable of the environment or newly
// built.
func program(ctx context.Context, variable, folder, tool string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return exec.LookPath(path)
	}
	return process.Tool(ctx, "../../../dev/pins/"+folder, tool)
}

// A node is a server.
type node struct {
	name    string
	command []string
	log     string

	mu      sync.Mutex
	process *process.Process // nil before the first start
	killed  bool
	stopped bool
}

// start starts the server, and kills a running server first.
func (n *node) start() error {
	n.kill()
	n.mu.Lock()
	defer n.mu.Unlock()
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(n.command[0], n.command[1:]...)
	cmd.Stdout, cmd.Stderr = log, log
	n.killed = false
	n.process, err = process.Start(cmd)
	return err
}

func (n *node) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = false
	if n.process != nil && n.process.Alive() {
		n.killed = true
		n.process.Kill()
	}
}

// freeze stops the server (SIGSTOP), and thaw ends the stop.
func (n *node) freeze() error { return n.signal((*process.Process).Freeze, true) }
func (n *node) thaw() error   { return n.signal((*process.Process).Thaw, false) }

func (n *node) signal(send func(*process.Process) error, stopped bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil || !n.process.Alive() {
		return fmt.Errorf("%s does not run", n.name)
	}
	n.stopped = stopped
	return send(n.process)
}

// up reports whether the server runs and is not stopped. The error says why the server has ended by
// itself.
func (n *node) up() (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.process == nil || n.killed:
		return false, nil
	case n.process.Alive():
		return !n.stopped, nil
	case bytes.Contains(process.Tail(n.log, 8192), []byte(process.ErrPort.Error())):
		return false, fmt.Errorf("%s: %w", n.name, process.ErrPort)
	}
	return false, fmt.Errorf("%s has ended by itself: %v", n.name, n.process.State())
}

// said returns the last lines of the server's log.
func (n *node) said() string {
	lines := strings.Split(strings.TrimSpace(string(process.Tail(n.log, 64<<10))), "\n")
	var b strings.Builder
	fmt.Fprintf(&b, "== %s\n", n.name)
	for _, line := range lines[max(0, len(lines)-25):] {
		fmt.Fprintf(&b, "%.300s\n", line)
	}
	return b.String()
}

// A request is for the API of a server.
type request struct {
	client      *http.Client
	method, url string
	token       string
	contentType string
	body        []byte
	into        any // pointer to a value for the JSON of the answer, or *[]byte for the answer itself; may be nil
}

// A statusError is an answer with a status other than 2xx.
type statusError struct {
	request, said string
	status        int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s: %d: %s", e.request, e.status, e.said) }

// is reports whether an error is an answer with the status.
func is(err error, status int) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && e.status == status
}

// do makes the request.
func (r request) do(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+r.token)
	if r.contentType != "" {
		q.Header.Set("Content-Type", r.contentType)
	}
	response, err := r.client.Do(q)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return err
	case response.StatusCode/100 != 2:
		return &statusError{r.method + " " + q.URL.Path, fmt.Sprintf("%.500s", bytes.TrimSpace(body)), response.StatusCode}
	case r.into == nil:
		return nil
	}
	if raw, ok := r.into.(*[]byte); ok {
		*raw = body
		return nil
	}
	return json.Unmarshal(body, r.into)
}

// until calls a function until the function returns nil. The end of a server by itself is a final
// error.
func until(ctx context.Context, what string, nodes []*node, f func(context.Context) error) error {
	var err, ended error
	wait.For(func() bool {
		for _, n := range nodes {
			if _, ended = n.up(); ended != nil {
				return true
			}
		}
		err = f(ctx)
		return err == nil || ctx.Err() != nil
	})
	if ended != nil || err == nil {
		return ended
	}
	return fmt.Errorf("%s: %w", what, err)
}

// document returns the text of docs/stores.md, with the rights that programs need.
func document() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "..", "docs", "stores.md"))
	return string(text), err
}

//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
)

// asProgram is the variable of processes that run main.
const asProgram = "FIRN_TEST_ORDERS"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// A process is the program, with its output.
type process struct {
	*exec.Cmd
	stderr bytes.Buffer
}

func start(t *testing.T, env ...string) *process {
	t.Helper()
	program, err := os.Executable()
	testkit.OK(t, err)
	p := &process{Cmd: exec.CommandContext(t.Context(), program)}
	p.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	p.Cmd.Stderr = &p.stderr
	testkit.OK(t, p.Start())
	return p
}

// exit returns the exit code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	var failed *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// get returns the answer to a request, and waits for the program to listen.
func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	wait.Until(t, "the program answers "+url, func() bool {
		r, err := http.Get(url)
		if err != nil {
			return false
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		testkit.OK(t, err)
		status, body = r.StatusCode, string(text)
		return true
	})
	return status, body
}

// held returns how many workers of a store's pools are held.
func held(t *testing.T, store driver.Store) (n int) {
	t.Helper()
	found, err := lease.Survey(t.Context(), store)
	testkit.OK(t, err)
	for _, pool := range found {
		for _, w := range pool.Workers {
			if w.Held {
				n++
			}
		}
	}
	return n
}

// TestOrders: the program makes no store and no pool. In a pool, it makes IDs, answers the probes, and gives
// the worker back when a signal ends the program.
func TestOrders(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ids")
	address := "FIRN_STORE=file://" + filepath.ToSlash(dir)
	port, err := loopback.Port()
	testkit.OK(t, err)
	listen := "127.0.0.1:" + strconv.Itoa(port)

	for store, want := range map[string]string{
		"FIRN_STORE=":                      "invalid address of a store",
		"FIRN_STORE=redis://127.0.0.1:1/0": `import _ "github.com/firn-id/firn/lease/redislease"`,
		address:                            filelease.ErrNoStore.Error(),
		"FIRN_STORE=postgres://ids@127.0.0.1:1/a": "127.0.0.1:1",
	} {
		p := start(t, store, "LISTEN="+listen)
		if code := p.exit(t); code != 1 || !strings.Contains(p.stderr.String(), want) {
			t.Errorf("%s: exit code %d, without %q: %s", store, code, want, &p.stderr)
		}
	}

	store, err := filelease.Open(dir)
	testkit.OK(t, err)
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	testkit.OK(t, err)
	wanted, err := gen.ForLease().Pool()
	testkit.OK(t, err)
	testkit.OK(t, testkit.Err(lease.Create(t.Context(), store, "other", wanted.Layout)))
	if p := start(t, address, "LISTEN="+listen); p.exit(t) != 1 || !strings.Contains(p.stderr.String(), lease.ErrNoPool.Error()) {
		t.Errorf("without a pool: %s", &p.stderr)
	}
	testkit.OK(t, testkit.Err(lease.Create(t.Context(), store, wanted.Name, wanted.Layout)))

	p := start(t, address, "LISTEN="+listen)
	status, text := get(t, "http://"+listen+"/id")
	if id, err := nanoflake.Parse(strings.TrimSpace(text)); status != http.StatusOK || err != nil || id.IsZero() {
		t.Errorf("GET /id: %d, %q, %v", status, text, err)
	}
	for _, path := range []string{"/readyz", "/livez"} {
		if status, text := get(t, "http://"+listen+path); status != http.StatusOK {
			t.Errorf("GET %s: %d, %q", path, status, text)
		}
	}
	if n := held(t, store); n != 1 {
		t.Errorf("%d workers are held, not 1", n)
	}
	testkit.OK(t, p.Process.Signal(syscall.SIGTERM))
	code, said := p.exit(t), p.stderr.String()
	for event, want := range map[string]int{"event=acquired": 1, "event=released": 1, "event=": 2, "\n": 2} {
		if n := strings.Count(said, event); n != want || code != 0 {
			t.Errorf("after SIGTERM: exit code %d, and %d times %q in: %s", code, n, event, said)
		}
	}
	if n := held(t, store); n != 0 {
		t.Errorf("after SIGTERM %d workers are held", n)
	}

	// Who asks while the store is away reads nothing of the error, which is in the log.
	p = start(t, address, "LISTEN="+listen)
	get(t, "http://"+listen+"/id")
	testkit.OK(t, os.Rename(dir, dir+"-away"))
	for _, path := range []string{"/readyz", "/id"} {
		wait.Until(t, "the lease ends", func() bool {
			r, err := http.Get("http://" + listen + path)
			testkit.OK(t, err)
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			testkit.OK(t, err)
			return r.StatusCode == http.StatusServiceUnavailable && r.Header.Get("Retry-After") == "1" && string(text) == "no IDs right now\n"
		})
	}
	testkit.OK(t, p.Process.Signal(syscall.SIGTERM))
	p.exit(t)
	if said := p.stderr.String(); !strings.Contains(said, "no IDs") || !strings.Contains(said, dir) {
		t.Errorf("the log lacks the error: %s", said)
	}
}

// docs/deploy.md prints the program as it is.
func TestDocument(t *testing.T) {
	source, err := os.ReadFile("main.go")
	testkit.OK(t, err)
	page, err := os.ReadFile("../../../../../docs/deploy.md")
	testkit.OK(t, err)
	_, program, ok := strings.Cut(string(source), "\npackage main\n")
	if !ok || strings.Count(string(page), "```go\n") != 1 || !strings.Contains(string(page), "```go\npackage main\n"+program+"```\n") {
		t.Error("docs/deploy.md does not print main.go, or prints another program too: copy main.go from its package clause on into docs/deploy.md")
	}
}

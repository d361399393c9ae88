// Package tests runs the whole program, as users do. The package is in a module of its own, which is never
// published: modules that only tests need stay out of the go.mod of the program.
package tests

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/root"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

func TestMain(m *testing.M) {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", noSleep)
	}
	testscript.Main(homeless{m}, map[string]func(){"firn": func() {
		if os.Getenv(asUsers) == "" {
			takeAnyDirectory()
		}
		os.Exit(root.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}})
}

// asUsers is the variable of tests that run firn as users do.
const asUsers = "FIRN_TEST_AS_USERS"

// takeAnyDirectory lets firn use any directory, beside any other process of the machine: tests of many pools
// run at once, and in containers.
func takeAnyDirectory() {
	stores.InspectStore = func(ctx context.Context, store driver.Store) ([]driver.Finding, error) {
		if _, ok := store.(*filelease.Store); ok {
			return nil, nil
		}
		return lease.Inspect(ctx, store)
	}
}

// homeless runs tests with an empty home directory.
type homeless struct{ m *testing.M }

func (h homeless) Run() int {
	dir, err := os.MkdirTemp("", "firn-home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	keepCaches()
	os.Setenv("HOME", dir)
	os.Setenv(stores.Variable, filepath.Join(dir, "ids"))
	return h.m.Run()
}

// keepCaches names the caches of the go command, which builds servers for tests. In an empty home the go
// command would build everything, and begin with the compiler's own packages.
func keepCaches() {
	names := []string{"GOCACHE", "GOMODCACHE"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return // there is no go command, and so nothing that it builds
	}
	for i, dir := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		os.Setenv(names[i], dir)
	}
}

// noSleep keeps the race detector from sleeping for a second at the end of each firn.
const noSleep = "atexit_sleep_ms=0"

func TestScripts(t *testing.T) {
	turn.Take(t)
	testscript.Run(t, scripts(t, "testdata"))
}

// scripts returns the parameters for the scripts of a folder. The variables are those of the scripts alone.
func scripts(t *testing.T, dir string, variables ...string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "full":
				return services.InFull(), nil
			case "mounts": // the user may mount file systems in a namespace
				return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", t.TempDir()).Run() == nil, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "lease": leaseCommand, "put": putCommand, "cut": cutCommand, "keep": keepCommand, "unchanged": unchangedCommand,
			"makes": makesCommand, "follow": followCommand,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv(stores.Variable, filepath.Join(e.WorkDir, ".ids"))
			e.Setenv("NO_COLOR", "")
			e.Setenv("TERM", "xterm")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Vars = append(e.Vars, variables...)
			held := new(heldLeases)
			e.Values[heldLeasesKey{}] = held
			e.Defer(func() { held.end() })
			return nil
		},
	}
}

// wrongUsage matches what firn says of wrong usage: the fault, up to three hints, and how to get help.
var wrongUsage = regexp.MustCompile(`\Afirn: .*\n(  .*\n){0,3}Try "firn.*\n\z`)

// exits is the scripts' command "exits CODE PROGRAM ARG...", which runs the program. The program must exit with
// the code. Errors of usage must have no output.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := exitCode(ts.Exec(args[1], args[2:]...))
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
	if want == cli.ExitUsage {
		stderr := ts.ReadFile("stderr")
		if !wrongUsage.MatchString(stderr) {
			ts.Fatalf("wrong usage is not explained in one line, with hints: %q", stderr)
		}
		if stdout := ts.ReadFile("stdout"); stdout != "" {
			ts.Fatalf("wrong usage writes to stdout: %q", stdout)
		}
	}
}

// exitCode returns the exit code of a program that ended with err, -1 if it did not exit.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}

// firnCommand returns the command that runs firn, with a store of its own.
func firnCommand(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command("firn", args...)
	cmd.Env = append(os.Environ(), stores.Variable+"="+t.TempDir())
	return cmd
}

// firnRun runs firnCommand, and returns the output, without notes, and the exit code.
func firnRun(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := firnCommand(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	stdout, stderr, code = capture(t, cmd)
	return stdout, withoutNotes(stderr), code
}

// capture runs a command, and returns the output and the exit code.
func capture(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	code = exitCode(run(t, cmd))
	return out.String(), err.String(), code
}

// seen notes IDs, and counts repeated IDs.
type seen struct {
	mu    sync.Mutex
	ids   map[string]bool
	twice int
}

func (s *seen) note(lines string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = make(map[string]bool)
	}
	for id := range strings.Lines(lines) {
		if s.ids[id] {
			s.twice++
		}
		s.ids[id] = true
	}
}

// are fails the test unless n IDs were noted, each once.
func (s *seen) are(t *testing.T, n int) {
	t.Helper()
	if s.twice > 0 || len(s.ids) != n {
		t.Errorf("%d IDs twice, of %d; want %d", s.twice, len(s.ids), n)
	}
}

func check(t *testing.T, errs ...error) {
	t.Helper()
	testkit.OK(t, errors.Join(errs...))
}

// withoutNotes leaves out the lines of stderr about new stores. testdata/no_create.txtar checks them.
func withoutNotes(stderr string) string {
	var rest strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "firn: created a new store in ") {
			rest.WriteString(line)
		}
	}
	return rest.String()
}

// start starts a command that signals can end, even if a shell runs the tests in the background and ignores
// the signals.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig) // what is caught is the default to a child
		}
	}
	cmd.WaitDelay = wait.Patience // a child of the command may keep its pipes open
	check(t, cmd.Start())
	bound(t, cmd)
}

// longest bounds a command: some wait for [wait.Patience] themselves, more than once.
const longest = 3 * wait.Patience

// bound ends a command that goes on for too long, and fails the test. A program in Go then tells what its goroutines
// do. Readers of the command's output end, too. The command ends with the test at the latest.
func bound(t *testing.T, cmd *exec.Cmd) {
	var late atomic.Bool
	timer := time.AfterFunc(longest, func() {
		late.Store(true)
		cmd.Process.Signal(syscall.SIGQUIT) // fails on Windows
		time.Sleep(time.Second)
		cmd.Process.Kill()
	})
	t.Cleanup(func() {
		timer.Stop()
		cmd.Process.Kill()
		cmd.Wait()
		if late.Load() {
			t.Errorf("%q went on for %v, and was ended", cmd.Args, longest)
		}
	})
}

// run runs a command, and returns the error of its end.
func run(t *testing.T, cmd *exec.Cmd) error {
	t.Helper()
	start(t, cmd)
	return cmd.Wait()
}

// output runs a command, and returns its whole output, and the error of its end.
func output(t *testing.T, cmd *exec.Cmd) (string, error) {
	t.Helper()
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err := run(t, cmd)
	return all.String(), err
}

// TestErrorsAreText: control characters in arguments do not reach a terminal.
func TestErrorsAreText(t *testing.T) {
	for _, args := range [][]string{
		{"a\n\x1b[31m"}, {"--a\n\x1b[31m"}, {"new", "a\n\x1b[31m"}, {"new", "scru160", "-n", "a\n\x1b[31m"},
		{"new", "scru160", "--as=a\n\x1b[31m"}, {"new", "scru160", "a\n\x1b[31m"}, {"help", "a\n\x1b[31m"},
	} {
		_, stderr, code := firnRun(t, "", args...)
		if code != cli.ExitUsage || strings.Count(stderr, "\n") != 2 || !strings.Contains(stderr, `a\n\x1b[31m`) {
			t.Errorf("%q: exit code %d, stderr %q", args, code, stderr)
		}
	}
}

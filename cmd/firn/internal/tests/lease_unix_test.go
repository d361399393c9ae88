//go:build unix

package tests

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/freeze"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/snowflakesi"
)

// TestAtOnce: many runs share a pool at once, and make distinct IDs, with more workers than runs and with
// fewer.
func TestAtOnce(t *testing.T) {
	const each = 1000
	crowd := 80
	if services.InFull() {
		crowd = 200
	}
	turn.Take(t)
	for _, v := range []struct {
		runs int
		args []string
	}{
		{crowd, []string{"nanoflake"}},
		{crowd / 2, []string{"snowflakesi"}},    // 32 workers
		{60, []string{"ulidflake-scalable"}},    // 32 workers
		{30, []string{"ulidflake", "--fenced"}}, // one at a time
		{30, []string{"scru160", "--fenced"}},
		{30, []string{"sno"}},
		{30, []string{"nanoflake", "--worker", "7"}}, // one at a time
	} {
		t.Run(strings.Join(v.args, " "), func(t *testing.T) { // one after the other: each has the machine
			runs := v.runs
			if raceDetector || testing.Short() {
				runs = runs/10 + 1
			}
			dir := t.TempDir()
			var wg sync.WaitGroup
			var ids seen
			var expired atomic.Int64 // IDs of runs that failed
			for range runs {
				wg.Go(func() {
					// On a busy machine a run may stand still for its first interval, and lose its worker to a
					// run that waits; or the store may be slow. The IDs that the run wrote are good all the same.
					for again := true; again && !t.Failed(); {
						out, stderr, code := firnRun(t, "", append([]string{"new", "--state", dir, "-n", fmt.Sprint(each), "--wait", wait.Patience.String()}, v.args...)...)
						again = code == cli.ExitFailed && (strings.Contains(stderr, ": the lease has expired at ") || strings.Contains(stderr, "deadline exceeded"))
						if !again && (code != cli.ExitOK || stderr != "") {
							t.Errorf("exit code %d: %s", code, stderr)
						}
						if ids.note(out); again {
							expired.Add(int64(strings.Count(out, "\n")))
						}
					}
				})
			}
			wg.Wait()
			ids.are(t, runs*each+int(expired.Load()))
			if shown, _, _ := firnRun(t, "", "pool", "doctor", "--state", dir); !strings.Contains(shown, " 0 held") {
				t.Errorf("workers were not given back:\n%s", shown)
			}
		})
	}
}

// TestWait: a run waits for a worker while other processes hold and renew all of them. On a terminal the run says why
// nothing happens.
func TestWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var held *lease.Lease
	for range 2 {
		g, err := snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{ClockBits: 40, MachineBits: 1}})
		check(t, err)
		held, err = startIn(t.Context(), dir, g, lease.Config{Create: true, Timeout: wait.Patience})
		check(t, err)
		defer held.Close()
	}
	var out process.Logbook
	cmd := firnCommand(t, "new", "snowflakesi", "--machine-bits", "1", "--state", dir, "--wait", "10m")
	cmd.Stdout = &out
	f, err := pty.Start(cmd)
	check(t, err)
	defer f.Close()
	bound(t, cmd)
	stderr := bufio.NewReader(f)
	if said, err := stderr.ReadString('\n'); said != "firn: waiting for a free worker, for up to 10m0s (--wait 0 fails at once)\r\n" {
		t.Fatalf("%q, %v", said, err)
	}
	until := held.Until()
	wait.Until(t, "a holder renews", func() bool { return held.Until().After(until) })
	if out.String() != "" {
		t.Errorf("an ID while all workers are held: %s", &out)
	}
	check(t, held.Close())
	more, _ := io.ReadAll(stderr)
	if err := cmd.Wait(); err != nil || out.String() == "" || len(more) > 0 {
		t.Errorf("%v, stdout %q, stderr %q", err, &out, more)
	}
}

// TestGivenBack: each end of a run that can be caught returns the worker.
func TestGivenBack(t *testing.T) {
	signalled := func(sig syscall.Signal) func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser) {
		return func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser) {
			cmd.Process.Signal(sig)
			io.Copy(io.Discard, out)
			checkSignaled(t, cmd.Wait(), sig)
		}
	}
	for name, end := range map[string]func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser){
		"SIGINT":  signalled(syscall.SIGINT),
		"SIGTERM": signalled(syscall.SIGTERM),
		"SIGTERM, unread": func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser) {
			cmd.Process.Signal(syscall.SIGTERM)
			state, err := cmd.Process.Wait() // not cmd.Wait, which closes the pipe
			cmd.Wait()                       // for stderr
			if err != nil || state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
				t.Errorf("it ended with %v, %v", state, err)
			}
		},
		"closed pipe": func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser) {
			out.Close()
			checkSignaled(t, cmd.Wait(), syscall.SIGPIPE)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			run := startEndless(t, "new", "nanoflake", "--worker", "3", "--state", dir)
			wait.Until(t, "the worker is held while it runs", func() bool {
				return strings.Contains(showPoolOf(t, dir), `"worker":3,"state":"held"`)
			})
			end(t, run.Cmd, run.out)
			if shown := showPoolOf(t, dir); !strings.Contains(shown, `"worker":3,"state":"free"`) {
				t.Errorf("after its end: %s", shown)
			}
			if stderr := withoutNotes(run.stderr.String()); stderr != "" {
				t.Errorf("stderr %q", stderr)
			}
		})
	}
}

func showPoolOf(t *testing.T, dir string) string {
	t.Helper()
	out, stderr, code := firnRun(t, "", "pool", "show", "nanoflake", "--json", "--state", dir)
	if code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	return out
}

// TestKilled: the worker of a killed run is free when its interval ends. Later IDs of the worker are greater.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := startEndless(t, "new", "nanoflake", "--worker", "3", "--state", dir)
	run.Process.Kill()
	last := run.first
	for line, err := run.lines.ReadString('\n'); err == nil; line, err = run.lines.ReadString('\n') {
		last = line
	}
	run.Wait()
	next, stderr, code := firnRun(t, "", "new", "nanoflake", "--worker", "3", "--state", dir)
	if code != 0 || next <= last {
		t.Errorf("exit code %d, %q after %q, stderr %q", code, next, last, stderr)
	}
}

// TestStopped: a run that was stopped for longer than its interval goes on in a new interval.
func TestStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := startEndless(t, "new", "nanoflake", "--state", dir)
	check(t, freeze.Process(run.Process.Pid))
	wait.Until(t, "the times run out while it is stopped", func() bool {
		return strings.Contains(showPoolOf(t, dir), `"state":"expired"`)
	})
	run.Process.Signal(syscall.SIGCONT)
	last := run.first
	for range 100000 { // more than was in the pipe
		line, err := run.lines.ReadString('\n')
		if err != nil || line <= last {
			t.Fatalf("%q after %q: %v: %s", line, last, err, &run.stderr)
		}
		last = line
	}
	run.Process.Signal(syscall.SIGINT)
	io.Copy(io.Discard, run.out)
	checkSignaled(t, run.Wait(), syscall.SIGINT)
}

// TestStoreGone: a run whose store goes away makes IDs to the end of its interval, then fails.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/state"
	run := startEndless(t, "new", "nanoflake", "--state", dir)
	check(t, os.Rename(dir, dir+"-gone"))
	last := run.first
	for {
		line, err := run.lines.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil || len(line) != len(last) || line <= last {
			t.Fatalf("%q after %q: %v", line, last, err)
		}
		last = line
	}
	code, stderr := exitCode(run.Wait()), withoutNotes(run.stderr.String())
	if code != cli.ExitFailed || strings.Count(stderr, "firn: ") != 1 || !strings.Contains(stderr, "the lease has expired at ") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// TestColourOfFindings: doctor colours on a terminal, unless NO_COLOR says no.
func TestColourOfFindings(t *testing.T) {
	for noColor, coloured := range map[string]bool{"": true, "1": false} {
		cmd := firnCommand(t, "pool", "doctor")
		cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR="+noColor)
		out, err := onTerminal(t, cmd, nil, "")
		if err != nil || strings.Contains(out, "\x1b[36mnote") != coloured || !coloured && strings.Contains(out, "\x1b") {
			t.Errorf("NO_COLOR=%s: %q, %v", noColor, out, err)
		}
	}
}

// TestRecoverAsks: on a terminal a recovery goes on once somebody has typed the name of the pool.
func TestRecoverAsks(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, code := firnRun(t, "", "pool", "create", "nanoflake", "--state", dir); code != 0 {
		t.Fatal(stderr)
	}
	for _, v := range []struct {
		typed, want string
		code        int
	}{
		{"nanoflakes\n", "that is not \"nanoflake\": nothing was changed", cli.ExitFailed},
		{"\n", "nothing was changed", cli.ExitFailed},
		{"\x04", "nothing was changed", cli.ExitFailed},
		{"nanoflake\n", "recovered: 0 records", cli.ExitOK},
	} {
		cmd := firnCommand(t, "pool", "recover", "nanoflake", "--no-wait", "--state", dir)
		out, err := onTerminal(t, cmd, nil, v.typed)
		if code := exitCode(err); code != v.code || !strings.Contains(out, v.want) || !strings.Contains(out, "ends all leases of pool nanoflake in file://") {
			t.Errorf("%q: exit code %d: %s", v.typed, code, out)
		}
		if shown := showPoolOf(t, dir); strings.Contains(shown, "recovered") != (v.code == cli.ExitOK) {
			t.Errorf("after %q: %s", v.typed, shown)
		}
	}
}

//go:build unix

package tests

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/freeze"
)

// TestAtOnce: runs that are started at once share a pool, and make distinct IDs, with more
// workers than runs and with fewer.
func TestAtOnce(t *testing.T) {
	const each = 1000
	for _, v := range []struct {
		runs int
		args []string
	}{
		{200, []string{"nanoflake"}},
		{100, []string{"snowflakesi"}},          // 32 workers
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
			var (
				wg    sync.WaitGroup
				mu    sync.Mutex
				seen  = make(map[string]bool)
				began = time.Now()
			)
			for range runs {
				wg.Go(func() {
					var out, stderr bytes.Buffer
					cmd := firnCommand(t, append([]string{"new", "--state", dir, "-n", fmt.Sprint(each)}, v.args...)...)
					cmd.Stdout, cmd.Stderr = &out, &stderr
					if err := cmd.Run(); err != nil || stderr.Len() > 0 {
						t.Errorf("%v: %s", err, &stderr)
					}
					mu.Lock()
					defer mu.Unlock()
					for id := range strings.Lines(out.String()) {
						if seen[id] {
							t.Errorf("twice: %s", id)
						}
						seen[id] = true
					}
				})
			}
			wg.Wait()
			if len(seen) != runs*each {
				t.Errorf("%d IDs, not %d", len(seen), runs*each)
			}
			t.Logf("%d runs took %v", runs, time.Since(began).Round(time.Millisecond))
			if shown, _, _ := firnRun(t, "", "pool", "doctor", "--state", dir); !strings.Contains(shown, " 0 held") {
				t.Errorf("workers were not given back:\n%s", shown)
			}
		})
	}
}

// TestWait: a run waits for a worker while others make many IDs, who renew theirs meanwhile.
func TestWait(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var holders []*exec.Cmd
	for range 2 {
		cmd := firnCommand(t, "new", "snowflakesi", "--machine-bits", "1", "--state", dir, "-n", "1000000000000")
		cmd.Stdout = io.Discard
		start(t, cmd)
		holders = append(holders, cmd)
	}
	for {
		if out, _, _ := firnRun(t, "", "pool", "show", "snowflakesi-40-1", "--state", dir, "--json"); strings.Count(out, `"state":"held"`) == 2 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.AfterFunc(2*time.Second, func() { // by then each has renewed at least once
		for _, cmd := range holders {
			cmd.Process.Signal(syscall.SIGTERM)
		}
	})
	out, stderr, code := firnRun(t, "", "new", "snowflakesi", "--machine-bits", "1", "--state", dir)
	if code != cli.ExitOK || out == "" || stderr != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, stderr)
	}
	for _, cmd := range holders {
		checkSignaled(t, cmd.Wait(), syscall.SIGTERM)
	}
}

// TestSaysThatItWaits: people who see it are told why nothing happens.
func TestSaysThatItWaits(t *testing.T) {
	t.Parallel()
	cmd := firnCommand(t, "new", "ulidflake", "--fenced", "-n", "1000000000000")
	cmd.Stdout = io.Discard
	start(t, cmd)
	defer cmd.Wait()
	defer cmd.Process.Kill()
	waiting := firnCommand(t, "new", "ulidflake", "--fenced", "--wait", "2500ms")
	waiting.Env = cmd.Env
	for !strings.Contains(showEnv(t, cmd.Env), `"state":"held"`) {
		time.Sleep(10 * time.Millisecond)
	}
	f, err := pty.Start(waiting)
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(f)
	f.Close()
	said := strings.Index(string(out), "firn: waiting for a free worker, for up to 2.5s (--wait 0 fails at once)\r\n")
	if err := waiting.Wait(); err == nil || said != 0 || !strings.Contains(string(out), "its one worker is taken") {
		t.Errorf("%v: %q", err, out)
	}
}

// showEnv returns what firn pool show says of the pool of ulidflake, in an environment.
func showEnv(t *testing.T, env []string) string {
	t.Helper()
	cmd := firnCommand(t, "pool", "show", "ulidflake", "--json")
	cmd.Env = env
	out, _ := cmd.Output() // there may be none yet
	return string(out)
}

// TestGivenBack: however a run ends that can be caught, its worker is given back.
func TestGivenBack(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser){
		"SIGINT": func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser) {
			cmd.Process.Signal(syscall.SIGINT)
			io.Copy(io.Discard, out)
			checkSignaled(t, cmd.Wait(), syscall.SIGINT)
		},
		"SIGTERM": func(t *testing.T, cmd *exec.Cmd, out io.ReadCloser) {
			cmd.Process.Signal(syscall.SIGTERM)
			io.Copy(io.Discard, out)
			checkSignaled(t, cmd.Wait(), syscall.SIGTERM)
		},
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
			if shown := showPoolOf(t, dir); !strings.Contains(shown, `"worker":3,"state":"held"`) {
				t.Errorf("while it runs: %s", shown)
			}
			end(t, run.Cmd, run.out)
			if shown := showPoolOf(t, dir); !strings.Contains(shown, `"worker":3,"state":"free"`) {
				t.Errorf("after its end: %s", shown)
			}
			if run.stderr.Len() > 0 {
				t.Errorf("stderr %q", &run.stderr)
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

// TestKilled: what a run printed before it was killed, no later one prints, with the same
// worker; that comes free when its times run out.
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

// TestStopped: a run that was stopped for longer than its times last goes on with new ones.
func TestStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := startEndless(t, "new", "nanoflake", "--state", dir)
	if err := freeze.Process(run.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(showPoolOf(t, dir), `"until":"`)
	shown, _, _ = strings.Cut(shown, `"`)
	until, err := time.Parse(time.RFC3339, shown)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Until(until) + 100*time.Millisecond)
	if shown := showPoolOf(t, dir); !strings.Contains(shown, `"state":"ran out"`) {
		t.Errorf("while it is stopped: %s", shown)
	}
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

// TestStoreGone: a run whose store goes away makes IDs while its times last, then fails.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/state"
	run := startEndless(t, "new", "nanoflake", "--state", dir)
	if err := exec.Command("mv", dir, dir+"-gone").Run(); err != nil {
		t.Fatal(err)
	}
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
	code, stderr := exitCode(run.Wait()), run.stderr.String()
	if code != cli.ExitFailed || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "the lease has expired at ") {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

// TestColourOfFindings: doctor colours on a terminal, unless NO_COLOR says no.
func TestColourOfFindings(t *testing.T) {
	for noColor, coloured := range map[string]bool{"": true, "1": false} {
		cmd := firnCommand(t, "pool", "doctor")
		cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR="+noColor)
		f, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(f)
		f.Close()
		if err := cmd.Wait(); err != nil || strings.Contains(string(out), "\x1b[36mnote") != coloured || !coloured && strings.Contains(string(out), "\x1b") {
			t.Errorf("NO_COLOR=%s: %q, %v", noColor, out, err)
		}
	}
}

// TestRescueAsks: on a terminal a rescue goes on once somebody has typed the name of the pool.
func TestRescueAsks(t *testing.T) {
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
		{"nanoflake\n", "rescued: 0 records", cli.ExitOK},
	} {
		cmd := firnCommand(t, "pool", "rescue", "nanoflake", "--no-wait", "--state", dir)
		f, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(v.typed); err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(f)
		f.Close()
		if code := exitCode(cmd.Wait()); code != v.code || !strings.Contains(string(out), v.want) || !strings.Contains(string(out), "ends all leases of pool nanoflake in file://") {
			t.Errorf("%q: exit code %d: %s", v.typed, code, out)
		}
		if shown := showPoolOf(t, dir); strings.Contains(shown, "rescued") != (v.code == cli.ExitOK) {
			t.Errorf("after %q: %s", v.typed, shown)
		}
	}
}

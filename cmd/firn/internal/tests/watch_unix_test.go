//go:build unix

package tests

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"

	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// The control sequences of a screen.
const (
	entered = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	left    = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

var sequences = regexp.MustCompile("\x1b\\[[?0-9;]*[A-Za-z]")

// A transcript is what a command has written so far.
type transcript struct{ process.Logbook }

func (tr *transcript) String() string { return strings.ReplaceAll(tr.Logbook.String(), "\r", "") }

// pictures returns the whole pictures of a screen, without colours.
func (tr *transcript) pictures() (pictures []string) {
	parts := strings.Split(tr.String(), "\x1b[?2026h\x1b[H")
	for _, part := range parts[1:] {
		if picture, _, whole := strings.Cut(part, "\x1b[J\x1b[?2026l"); whole {
			pictures = append(pictures, sequences.ReplaceAllString(picture, ""))
		}
	}
	return pictures
}

// last returns the last whole picture, or "".
func (tr *transcript) last() string {
	if all := tr.pictures(); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

func watchCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	cmd := firnCommand(t, append([]string{"pool", "show", "nanoflake", "--watch", "--every", "100ms", "--state", dir}, args...)...)
	cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=", "COLUMNS=")
	return cmd
}

// TestWatch: on a terminal --watch draws one picture after the other, which fits the terminal, and shows who
// holds what. Ctrl-Z and Ctrl-C give the terminal back, with its cursor.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	holder := startEndless(t, "new", "nanoflake", "--worker", "3", "--state", dir)
	cmd := watchCommand(t, dir)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 20, Cols: 100})
	check(t, err)
	defer f.Close()
	bound(t, cmd)
	var out transcript
	read := make(chan struct{})
	go func() {
		defer close(read)
		io.Copy(&out, f) // ends with EIO on Linux
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the last picture:\n%s", out.last())
		}
	})
	picture := func(what string, ok func(picture string) bool) {
		t.Helper()
		wait.Until(t, what, func() bool { return ok(out.last()) })
	}
	held := regexp.MustCompile(`(?m)^3 +held +[█░]{10} +\d+\.\d s left +\d+ +.*firn`)
	picture("the holder is shown", func(p string) bool {
		return held.MatchString(p) && strings.Contains(p, "held  1 of 1024 workers, 0.1 %")
	})
	check(t, pty.Setsize(f, &pty.Winsize{Rows: 8, Cols: 60}))
	picture("the picture fits a smaller terminal", func(p string) bool {
		lines := strings.Split(p, "\n")
		for _, line := range lines {
			if utf8.RuneCountInString(line) > 60 {
				return false
			}
		}
		return len(lines) <= 8
	})
	check(t, pty.Setsize(f, &pty.Winsize{Rows: 40, Cols: 100}))
	holder.Process.Signal(syscall.SIGTERM)
	io.Copy(io.Discard, holder.out)
	holder.Wait()
	picture("the worker is free", func(p string) bool {
		return regexp.MustCompile(`(?m)^3 +free +.*last .*firn`).MatchString(p) && strings.Contains(p, "held  0 of 1024")
	})

	// Nobody could continue a process of this terminal, and the system does not stop it.
	_, err = f.WriteString("\x1a")
	check(t, err)
	wait.Until(t, "Ctrl-Z leaves the screen, and the command enters the screen again", func() bool {
		_, after, ok := strings.Cut(out.String(), left)
		return ok && strings.Contains(after, entered) && strings.Contains(after, "\x1b[?2026l")
	})
	_, err = f.WriteString("\x03")
	check(t, err)
	err = cmd.Wait()
	<-read
	checkSignaled(t, err, syscall.SIGINT)
	all := out.String()
	if n := strings.Count(all, entered); n != 2 || strings.Count(all, left) != n {
		t.Errorf("the screen was entered %d times, and left %d times", n, strings.Count(all, left))
	}
	end := all[strings.LastIndex(all, left)+len(left):]
	if text := sequences.ReplaceAllString(end, ""); !strings.HasPrefix(text, "nanoflake  nanoflake, 1024 workers") || !strings.HasSuffix(text, "\n") || strings.Contains(end, "\x1b[?") {
		t.Errorf("after the screen: %q", end)
	}
}

// TestWatchKilled: SIGTERM gives the terminal back, too.
func TestWatchKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	firnRun(t, "", "pool", "create", "nanoflake", "--state", dir)
	cmd := watchCommand(t, dir)
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 20, Cols: 100})
	check(t, err)
	defer f.Close()
	bound(t, cmd)
	var out transcript
	go func() {
		wait.For(func() bool { return out.last() != "" })
		cmd.Process.Signal(syscall.SIGTERM)
	}()
	io.Copy(&out, f)
	checkSignaled(t, cmd.Wait(), syscall.SIGTERM)
	if all := out.String(); !strings.Contains(all, left) || strings.LastIndex(all, entered) > strings.LastIndex(all, left) {
		t.Errorf("%q", all)
	}
}

// TestWatchBlocks: without a terminal --watch writes a block each time, without control sequences, and
// whole lines at the end. An error of the store does not end the command.
func TestWatchBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/state"
	startEndless(t, "new", "nanoflake", "--worker", "3", "--state", dir)
	cmd := watchCommand(t, dir)
	var out, errs transcript
	cmd.Stdout, cmd.Stderr = &out, &errs
	start(t, cmd)
	blocks := func() int { return strings.Count(out.String(), "nanoflake  nanoflake, 1024 workers, in file://") }
	wait.Until(t, "there are three blocks", func() bool { return blocks() >= 3 })
	check(t, os.Rename(dir, dir+"-away"))
	wait.Until(t, "the error is told", func() bool { return strings.Count(errs.String(), "firn: ") >= 2 })
	check(t, os.Rename(dir+"-away", dir))
	before := blocks()
	wait.Until(t, "the command goes on", func() bool { return blocks() > before+1 })
	cmd.Process.Signal(syscall.SIGINT)
	checkSignaled(t, cmd.Wait(), syscall.SIGINT)
	text := out.String()
	if !strings.HasSuffix(text, "\n") || strings.Contains(text, "\x1b") || !regexp.MustCompile(`(?m)^3 +held +[█░]{10} +\d+\.\d s left +\d`).MatchString(text) {
		t.Errorf("%q", text)
	}
}

// TestWatchJSON: with --json --watch writes the objects each time, on a terminal too.
func TestWatchJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	firnRun(t, "", "new", "nanoflake", "--worker", "3", "--state", dir)
	cmd := watchCommand(t, dir, "--json")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 20, Cols: 100})
	check(t, err)
	defer f.Close()
	bound(t, cmd)
	var out transcript
	go func() {
		wait.For(func() bool { return strings.Count(out.String(), `"uuid"`) >= 3 })
		cmd.Process.Signal(syscall.SIGINT)
	}()
	io.Copy(&out, f)
	checkSignaled(t, cmd.Wait(), syscall.SIGINT)
	pools, workers := 0, 0
	read := map[string]int{} // the readings, and the pools in each
	last := ""
	for line := range strings.Lines(out.String()) {
		var o struct {
			UUID   string
			Worker *int
			Used   int
			Read   string
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, err := time.Parse(time.RFC3339Nano, o.Read); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if o.UUID != "" {
			pools++
			read[o.Read]++
			if last = o.Read; o.Used != 1 {
				t.Errorf("%q: the number of workers that follow is not 1", line)
			}
		}
		if o.Read != last {
			t.Errorf("%q: the pool of this reading did not come first", line)
		}
		if o.Worker != nil {
			workers++
		}
	}
	if pools < 3 || workers < pools-1 || len(read) != pools {
		t.Errorf("%d pools, %d workers, %d readings", pools, workers, len(read))
	}
}

// TestWatchPipe: a reader that closes the pipe ends --watch without a word.
func TestWatchPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	firnRun(t, "", "pool", "create", "nanoflake", "--state", dir)
	cmd := watchCommand(t, dir)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	check(t, err)
	start(t, cmd)
	testkit.OK(t, testkit.Err(out.Read(make([]byte, 1))))
	out.Close()
	checkSignaled(t, cmd.Wait(), syscall.SIGPIPE)
	if errs.Len() > 0 {
		t.Errorf("stderr %q", &errs)
	}
}

//go:build unix

package tests

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// watchMemory returns a function for the time after the process has ended. The function returns the most
// memory of the process, in bytes. The system's own figure at the end also counts the memory of this program,
// since a process begins as a copy, so the figures of the running process come first.
func watchMemory(cmd *exec.Cmd) (most func() int64) {
	ended, last := make(chan struct{}), make(chan int64, 1)
	go func() {
		var peak int64
		for {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			for line := range strings.Lines(string(status)) {
				var kB int64
				if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kB); n == 1 {
					peak = kB << 10
				}
			}
			select {
			case <-ended:
				last <- peak
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(ended)
		if peak := <-last; peak > 0 {
			return peak
		}
		rss := int64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		if runtime.GOOS != "darwin" {
			rss <<= 10
		}
		return rss
	}
}

// most returns more memory than firn needs, and far less memory than the output and the input of the tests
// below.
func most() int64 {
	if raceDetector {
		return 120 << 20
	}
	return 40 << 20
}

// TestNewMemory: memory does not grow with the count.
func TestNewMemory(t *testing.T) {
	t.Parallel()
	cmd := firnCommand(t, "new", "scru160", "-n", "3000000", "--as", "hex") // 123 MB
	out, err := cmd.StdoutPipe()
	check(t, err)
	start(t, cmd)
	memory := watchMemory(cmd)
	n, err := io.Copy(io.Discard, out)
	if err != nil || n != 3000000*41 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	check(t, cmd.Wait())
	if rss := memory(); rss > most() {
		t.Errorf("%d MB of memory", rss>>20)
	}
}

// TestInspectMemory: memory does not grow with the length of a line.
func TestInspectMemory(t *testing.T) {
	t.Parallel()
	const id = "07en9rb30swmf\n"
	cmd := firnCommand(t, "inspect", "nanoflake")
	cmd.Stdin = io.MultiReader(io.LimitReader(zeros{}, 150<<20), strings.NewReader("\n"+id))
	var out strings.Builder
	cmd.Stdout = &out
	start(t, cmd)
	memory := watchMemory(cmd)
	err := cmd.Wait()
	if code := exitCode(err); code != cli.ExitFailed || !strings.Contains(out.String(), "id      "+id) {
		t.Fatalf("exit code %d, stdout %q", code, out.String())
	}
	if rss := memory(); rss > most() {
		t.Errorf("%d MB of memory", rss>>20)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// An endless run of firn new has made its first ID.
type endless struct {
	*exec.Cmd
	out    io.ReadCloser
	lines  *bufio.Reader // of out
	first  string        // the first line
	stderr bytes.Buffer
}

// startEndless starts firn with the arguments of new, and has it make more IDs than a test waits for.
func startEndless(t *testing.T, args ...string) *endless {
	t.Helper()
	run := &endless{Cmd: firnCommand(t, append(args, "-n", "1000000000000")...)}
	run.Stderr = &run.stderr
	out, err := run.StdoutPipe()
	check(t, err)
	start(t, run.Cmd)
	run.out, run.lines = out, bufio.NewReader(out)
	if run.first, err = run.lines.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestNewInterrupted: a signal ends a run, which would be endless, after a whole line.
func TestNewInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, name := range formats.Names() {
			t.Run(sig.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				run := startEndless(t, newArgs(name, "--as", "hex")...)
				check(t, run.Process.Signal(sig))
				for {
					line, err := run.lines.ReadString('\n')
					if err == io.EOF && line == "" {
						break
					}
					if len(line) != len(run.first) || err != nil {
						t.Fatalf("line %q after %q: %v", line, run.first, err)
					}
				}
				checkSignaled(t, run.Wait(), sig)
			})
		}
	}
}

// checkSignaled checks that a signal ended a process.
func checkSignaled(t *testing.T, err error, sig syscall.Signal) {
	t.Helper()
	exit, ok := err.(*exec.ExitError)
	if !ok {
		t.Fatalf("it ended with %v, not by a signal", err)
	}
	if s := exit.Sys().(syscall.WaitStatus); !s.Signaled() || s.Signal() != sig {
		t.Errorf("it ended with %v, not by %v", exit, sig)
	}
}

// TestNewInBackground: a shell ignores SIGINT for a job in the background, and so does the job.
func TestNewInBackground(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sh", "-c", `trap "" INT; exec firn new scru160 -n 1000000000000`)
	out, err := cmd.StdoutPipe()
	check(t, err)
	start(t, cmd)
	testkit.OK(t, testkit.Err(io.ReadFull(out, make([]byte, 33))))
	cmd.Process.Signal(syscall.SIGINT)
	if _, err := io.CopyN(io.Discard, out, 10<<20); err != nil {
		t.Errorf("SIGINT ended it: %v", err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	io.Copy(io.Discard, out)
	checkSignaled(t, cmd.Wait(), syscall.SIGTERM)
}

// TestInspectAnswersAtOnce: each line is answered before the next line is written.
func TestInspectAnswersAtOnce(t *testing.T) {
	t.Parallel()
	cmd := firnCommand(t, "inspect", "nanoflake", "--json")
	in, err := cmd.StdinPipe()
	check(t, err)
	out, err := cmd.StdoutPipe()
	check(t, err)
	start(t, cmd)
	r := bufio.NewReader(out)
	for range 3 {
		testkit.OK(t, testkit.Err(io.WriteString(in, "07en9rb30swmf\n")))
		if answer, err := r.ReadString('\n'); err != nil || !strings.Contains(answer, "07en9rb30swmf") {
			t.Fatalf("answer %q, %v", answer, err)
		}
	}
	in.Close()
	check(t, cmd.Wait())
}

// onTerminal runs a command on a terminal, types a text, and returns the output, and the error of the
// command's end. If size is nil, the terminal has no size.
func onTerminal(t *testing.T, cmd *exec.Cmd, size *pty.Winsize, typed string) (string, error) {
	t.Helper()
	f, err := pty.StartWithSize(cmd, size)
	check(t, err)
	defer f.Close()
	bound(t, cmd)
	testkit.OK(t, testkit.Err(f.WriteString(typed)))
	all, _ := io.ReadAll(f) // ends with EIO, not EOF, on Linux
	return strings.ReplaceAll(string(all), "\r\n", "\n"), cmd.Wait()
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestColour: on a terminal, unless NO_COLOR has a value or the terminal is dumb.
func TestColour(t *testing.T) {
	inspected := func(t *testing.T, env ...string) string {
		t.Helper()
		cmd := firnCommand(t, "inspect", "nanoflake", "07en9rb30swmf")
		cmd.Env = append(cmd.Env, append([]string{"TERM=xterm", "NO_COLOR="}, env...)...)
		out, err := onTerminal(t, cmd, nil, "")
		check(t, err)
		return out
	}
	plain, _, _ := firnRun(t, "", "inspect", "nanoflake", "07en9rb30swmf")
	if strings.Contains(plain, "\x1b") {
		t.Errorf("colour in a pipe: %q", plain)
	}
	coloured := inspected(t)
	for _, want := range []string{
		"\x1b[36m00011011000011110001011110011000101000110\x1b[0m \x1b[33m1011111111\x1b[0m \x1b[35m000000100111\x1b[0m\n",
		"\x1b[33mgenerator_id  10 bits  767 ──",
	} {
		if !strings.Contains(coloured, want) {
			t.Errorf("on a terminal, no %q in %q", want, coloured)
		}
	}
	if stripped := ansi.ReplaceAllString(coloured, ""); stripped != plain {
		t.Errorf("on a terminal, apart from the colours:\n%sin a pipe:\n%s", stripped, plain)
	}
	for _, env := range []string{"NO_COLOR=1", "NO_COLOR=0", "TERM=dumb"} {
		if out := inspected(t, env); out != plain {
			t.Errorf("with %s: %q", env, out)
		}
	}
}

// TestColourOfData: JSON and IDs are data, on a terminal too.
func TestColourOfData(t *testing.T) {
	for _, args := range [][]string{{"inspect", "nanoflake", "07en9rb30swmf", "--json"}, {"new", "scru160"}} {
		cmd := firnCommand(t, args...)
		cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=")
		out, err := onTerminal(t, cmd, nil, "")
		if err != nil || out == "" || strings.Contains(out, "\x1b") {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
}

//go:build unix

package tests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/testing/wait"
)

// A bulk command reads IDs of nanoflake from stdin.
type bulk struct {
	name string
	args []string
	// lines reports that each ID has a line of stdout, or several with the ID.
	lines bool
	times bool // the lines are times
}

// bulkCommands are the commands that read IDs from stdin, with arguments. A command may have several
// lines.
var bulkCommands = []bulk{
	{name: "inspect", args: words("inspect nanoflake --json"), lines: true},
	{name: "inspect", args: words("inspect --json --as text"), lines: true},
	{name: "inspect", args: words("inspect nanoflake")},
	{name: "pool who", args: words("pool who nanoflake")},
	{name: "pool who", args: words("pool who nanoflake --json"), lines: true},
	{name: "verify", args: words("verify nanoflake --json")},
	{name: "verify", args: words("verify nanoflake")},
	{name: "convert", args: words("convert nanoflake --to hex"), lines: true},
	{name: "stats", args: words("stats nanoflake")},
	{name: "stats", args: words("stats nanoflake --json")},
	{name: "at", args: words("at nanoflake --worker 7"), times: true},
}

// forBulk calls f for each command of the list, with a store that has the pool nanoflake, and an empty
// directory for temporary files.
func forBulk(t *testing.T, f func(t *testing.T, b bulk, run func(more ...string) *exec.Cmd)) {
	have := newTree(t).all()
	for _, b := range bulkCommands {
		t.Run(strings.Join(b.args, " "), func(t *testing.T) {
			t.Parallel()
			if have[b.name] == nil {
				t.Fatal("no such command")
			}
			tmp := t.TempDir()
			env := append(os.Environ(), stores.Variable+"="+t.TempDir(), "TMPDIR="+tmp, "TERM=xterm", "NO_COLOR=", "COLUMNS=")
			start := func(args ...string) *exec.Cmd {
				cmd := exec.Command("firn", args...)
				cmd.Env = env
				return cmd
			}
			if b.name == "pool who" {
				_, _, code := capture(t, start("pool", "create", "nanoflake"))
				if code != 0 {
					t.Fatal("no pool")
				}
			}
			f(t, b, func(more ...string) *exec.Cmd { return start(append(b.args[:len(b.args):len(b.args)], more...)...) })
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("files are left in TMPDIR: %v, %v", left, err)
			}
		})
	}
}

// some returns n lines for the command: nanoflakes of 2024, or times.
func (b bulk) some(t *testing.T, n int) (lines []string) {
	t.Helper()
	for i := range n {
		lines = append(lines, fmt.Sprint(1_710_000_000_000+i))
	}
	if b.times {
		return lines
	}
	out, _, code := firnRun(t, strings.Join(lines, "\n"), "at", "nanoflake", "--worker", "7")
	if code != 0 {
		t.Fatal("no IDs")
	}
	return strings.Fields(out)
}

// TestBulkMalformed: bad lines are named by their numbers, and the other lines answered.
func TestBulkMalformed(t *testing.T) {
	forBulk(t, func(t *testing.T, b bulk, run func(more ...string) *exec.Cmd) {
		ids := b.some(t, 4)
		bad := map[int]string{
			2: "no!", 4: ids[0] + "\x00", 6: strings.Repeat("0", 100_000), 7: "\x00", 8: ids[1][:12] + "!", 10: "\xff\xfe",
		}
		var input strings.Builder
		for line, good := 1, 0; line <= 11; line++ {
			text, wrong := bad[line]
			if !wrong && line != 3 {
				text = ids[good%len(ids)]
				good++
			}
			input.WriteString(text)
			if line < 11 {
				input.WriteByte('\n')
			}
		}
		cmd := run()
		cmd.Stdin = strings.NewReader(input.String())
		stdout, stderr, code := capture(t, cmd)
		if code != cli.ExitFailed {
			t.Errorf("exit code %d", code)
		}
		for line := range bad {
			if n := strings.Count(stderr, fmt.Sprintf("line %d: ", line)); n != 1 {
				t.Errorf("stderr has line %d %d times:\n%.3000s", line, n, stderr)
			}
		}
		if strings.Contains(stderr, "\x00") || len(stderr) > 10_000 {
			t.Errorf("stderr: %.3000q", stderr)
		}
		if n := strings.Count(stderr, "\n"); n < len(bad) || n > len(bad)+1 {
			t.Errorf("stderr has %d lines:\n%.3000s", n, stderr)
		}
		if stdout == "" {
			t.Error("no answer")
		}
		for _, id := range ids {
			if b.lines && b.name != "convert" && !strings.Contains(stdout, id) {
				t.Errorf("no answer for %s", id)
			}
		}
	})
}

// TestBulkTerminal: at a terminal, a command says that it waits for IDs, and Ctrl-D ends the IDs.
func TestBulkTerminal(t *testing.T) {
	forBulk(t, func(t *testing.T, b bulk, run func(more ...string) *exec.Cmd) {
		what := "IDs"
		if b.times {
			what = "times"
		}
		out, err := onTerminal(t, run(), &pty.Winsize{Rows: 24, Cols: 80}, "\x04")
		if code := exitCode(err); code != 0 || strings.Count(out, "firn: reading "+what+" from the terminal, one a line: Ctrl-D ends them\n") != 1 {
			t.Errorf("exit code %d: %q", code, out)
		}
	})
}

// feed writes IDs into the stdin of a command until the command ends, and returns after the command has
// taken far more than a pipe holds.
func feed(t *testing.T, cmd *exec.Cmd, ids []string) {
	t.Helper()
	const enough = 384 << 10 // bytes, more than a pipe and a buffer of firn hold
	in, err := cmd.StdinPipe()
	check(t, err)
	lines := []byte(strings.Join(ids, "\n") + "\n")
	taken := make(chan bool, 1)
	start(t, cmd)
	go func() {
		defer in.Close()
		for n := 0; ; n += len(lines) {
			if n > enough {
				select {
				case taken <- true:
				default:
				}
			}
			if _, err := in.Write(lines); err != nil {
				close(taken)
				return
			}
		}
	}()
	if _, ok := wait.Receive(t, "the command reads", taken); !ok {
		t.Log("the command ended early")
	}
}

// TestBulkInterrupt: SIGINT ends a command by the signal, and stdout with a whole line. A shell calls that exit
// code 130.
func TestBulkInterrupt(t *testing.T) {
	forBulk(t, func(t *testing.T, b bulk, run func(more ...string) *exec.Cmd) {
		cmd := run()
		out, w, err := os.Pipe()
		check(t, err)
		defer out.Close()
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &stderr
		var stdout bytes.Buffer
		var reader sync.WaitGroup
		reader.Go(func() { io.Copy(&stdout, out) })
		feed(t, cmd, b.some(t, 1000))
		w.Close()
		check(t, cmd.Process.Signal(os.Interrupt))
		err = cmd.Wait()
		reader.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
			t.Errorf("%v, not ended by SIGINT: %s", err, stderr.String())
		}
		if text := stdout.String(); text != "" && !strings.HasSuffix(text, "\n") {
			t.Errorf("stdout ends with %q", text[max(0, len(text)-30):])
		}
		if stderr.Len() > 0 {
			t.Errorf("stderr: %s", stderr.String())
		}
	})
}

// TestInterruptOnTerminal: on a terminal, too, SIGINT ends bulk output with a whole line.
func TestInterruptOnTerminal(t *testing.T) {
	lines := strings.Join(bulk{}.some(t, 1000), "\n") + "\n"
	for _, args := range [][]string{words("inspect nanoflake --json"), words("convert nanoflake --to hex"), words("new scru160 -n 1000000000")} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			cmd := firnCommand(t, args...)
			in, err := cmd.StdinPipe()
			check(t, err)
			f, err := pty.StartWithAttrs(cmd, nil, &syscall.SysProcAttr{}) // stdin is a pipe
			check(t, err)
			defer f.Close()
			bound(t, cmd)
			go func() {
				defer in.Close()
				for {
					if _, err := io.WriteString(in, lines); err != nil {
						return // firn has ended, or does not read
					}
				}
			}()
			_, err = io.CopyN(io.Discard, f, 4*64<<10) // buffers of firn
			check(t, err)
			check(t, cmd.Process.Signal(os.Interrupt))
			rest, _ := io.ReadAll(f) // ends with EIO on Linux
			checkSignaled(t, cmd.Wait(), syscall.SIGINT)
			if !bytes.HasSuffix(rest, []byte("\n")) {
				t.Errorf("the terminal's last bytes are %q", rest[max(0, len(rest)-30):])
			}
		})
	}
}

// TestBulkPipe: a command ends quietly if nobody reads stdout.
func TestBulkPipe(t *testing.T) {
	forBulk(t, func(t *testing.T, b bulk, run func(more ...string) *exec.Cmd) {
		input := filepath.Join(t.TempDir(), "ids")
		check(t, os.WriteFile(input, []byte(strings.Join(b.some(t, 100_000), "\n")+"\n"), 0o644))
		out, w, err := os.Pipe()
		check(t, err)
		out.Close()
		in, err := os.Open(input)
		check(t, err)
		defer in.Close()
		cmd := run()
		cmd.Stdin = in
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = w, &stderr
		start(t, cmd)
		w.Close()
		err = cmd.Wait()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE) {
			t.Errorf("%v", err)
		}
		if stderr.Len() > 0 {
			t.Errorf("stderr: %s", stderr.String())
		}
	})
}

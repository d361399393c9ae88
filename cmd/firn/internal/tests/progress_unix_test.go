//go:build unix

package tests

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestProgress: with stderr on a terminal, commands show how much of a file is read, and remove the bar. stdout
// has the same answer as without a terminal.
func TestProgress(t *testing.T) {
	ids, _, code := firnRun(t, "", "new", "sno", "-n", "100000", "--worker", "7", "--no-state")
	if code != 0 {
		t.Fatal("no IDs")
	}
	file := filepath.Join(t.TempDir(), "ids")
	check(t, os.WriteFile(file, []byte(ids), 0o644))
	for _, args := range []string{"verify sno --ordered", "convert sno --to hex"} {
		t.Run(args, func(t *testing.T) {
			want, _ := onFile(t, file, firnCommand(t, words(args)...))
			cmd := firnCommand(t, words(args)...)
			terminal, stderr, err := pty.Open()
			check(t, err)
			defer terminal.Close()
			check(t, pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 80}))
			cmd.Stderr = stderr
			shown := make(chan string)
			go func() {
				var all bytes.Buffer
				io.Copy(&all, terminal) // until the last process with the terminal has ended
				shown <- all.String()
			}()
			got, code := onFile(t, file, cmd)
			stderr.Close()
			bar := <-shown
			name := words(args)[0]
			if !strings.Contains(bar, name) || !strings.Contains(bar, "%") || !strings.Contains(bar, "B/s") {
				t.Errorf("the terminal shows %q", bar)
			}
			if last := bar[strings.LastIndex(strings.TrimRight(bar, "\r"), "\r")+1:]; strings.TrimSpace(last) != "" {
				t.Errorf("the bar stays: %q", last)
			}
			if code != 0 || name != "verify" && got != want {
				t.Errorf("exit code %d, %d bytes, want %d", code, len(got), len(want))
			}
		})
	}
}

// onFile runs a command with a file as stdin.
func onFile(t *testing.T, name string, cmd *exec.Cmd) (stdout string, code int) {
	t.Helper()
	in, err := os.Open(name)
	check(t, err)
	defer in.Close()
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = in, &out
	code = exitCode(run(t, cmd))
	return out.String(), code
}

//go:build unix

package tests

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// TestStatsTerminal: on a terminal, a report has colours and its width.
func TestStatsTerminal(t *testing.T) {
	ids := filepath.Join(t.TempDir(), "ids")
	some, _, _ := firnRun(t, "", "new", "nanoflake", "-n", "100000", "--worker", "7", "--no-state")
	check(t, os.WriteFile(ids, []byte(some), 0o600))
	report := func(columns string, size *pty.Winsize) string {
		f, err := os.Open(ids)
		check(t, err)
		defer f.Close()
		cmd := firnCommand(t, "stats", "nanoflake")
		cmd.Env = append(cmd.Env, "TERM=xterm", "NO_COLOR=", "COLUMNS="+columns)
		cmd.Stdin = f
		if size == nil {
			out, _, _ := capture(t, cmd)
			return out
		}
		terminal, tty, err := pty.Open()
		check(t, err, pty.Setsize(tty, size))
		defer terminal.Close()
		cmd.Stdout, cmd.Stderr = tty, tty
		start(t, cmd)
		tty.Close()
		out, _ := io.ReadAll(terminal) // ends with EIO, not EOF, on Linux
		check(t, cmd.Wait())
		return strings.ReplaceAll(string(out), "\r\n", "\n")
	}
	for _, c := range []struct {
		terminal uint16
		columns  string
	}{{40, "60"}, {60, "60"}, {100, "100"}, {300, "120"}} {
		plain := report(c.columns, nil)
		coloured := report("", &pty.Winsize{Rows: 24, Cols: c.terminal})
		shown := ansi.ReplaceAllString(coloured, "")
		if !strings.HasPrefix(coloured, "\x1b[2mformat") || shown != plain || !strings.Contains(plain, "IDs in each ") {
			t.Errorf("%d columns:\n%s\nnot\n%s", c.terminal, coloured, plain)
		}
	}
}

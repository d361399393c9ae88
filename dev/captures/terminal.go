//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const rows = 80

// play runs the commands of a scene for a user who has never run firn, and returns the screen at the end.
func (s scene) play(bin string) (*screen, error) {
	home := filepath.Join(os.TempDir(), "firn") // pictures show the path
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	env := append(os.Environ(), "HOME="+home, "FIRN_STORE="+filepath.Join(home, "pools"), "NO_COLOR=", "COLUMNS=", "TERM=xterm-256color", "TZ=Europe/Berlin", "LC_ALL=C.UTF-8",
		"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	shell := func(script string) *exec.Cmd {
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir, cmd.Env = home, env
		return cmd
	}
	if s.ids != nil {
		if err := s.ids(filepath.Join(home, "ids")); err != nil {
			return nil, err
		}
	}
	screen := newScreen(s.columns)
	for n, line := range s.typed {
		if n > 0 {
			screen.WriteString("\r\n")
		}
		screen.WriteString("\x1b[32m$\x1b[0m \x1b[1m" + line + "\x1b[0m\r\n")
		if err := screen.run(shell(line)); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	return screen, nil
}

// A screen is a terminal.
type screen struct {
	*vt.SafeEmulator
	columns int
}

func newScreen(columns int) *screen {
	s := &screen{SafeEmulator: vt.NewSafeEmulator(columns, rows), columns: columns}
	go io.Copy(io.Discard, s) // answers of the terminal
	return s
}

// run runs a command on the screen until it ends.
func (s *screen) run(cmd *exec.Cmd) error {
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(s.columns), Rows: rows})
	if err != nil {
		return err
	}
	defer f.Close()
	io.Copy(s, f) // ends with EIO on Linux
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return nil // the picture shows what is wrong
	}
	return err
}

//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const (
	rows     = 80
	patience = time.Minute     // for the text that a scene waits for
	moment   = 2 * time.Second // that a live view goes on
)

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
	if s.before != "" {
		behind := shell(s.before)
		behind.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with what it leaves in the background
		if out, err := behind.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		defer syscall.Kill(-behind.Process.Pid, syscall.SIGKILL)
	}
	screen := newScreen(s.columns)
	for n, line := range s.typed {
		if n > 0 {
			screen.WriteString("\r\n")
		}
		screen.WriteString("\x1b[32m$\x1b[0m \x1b[1m" + line + "\x1b[0m\r\n")
		until := ""
		if n == len(s.typed)-1 {
			until = s.until
		}
		if err := screen.run(shell(line), until); err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
	}
	return screen, nil
}

// A screen is a terminal.
type screen struct {
	*vt.SafeEmulator
	columns int
	frozen  [][]span // the picture, if it is of a moment before the end
}

func newScreen(columns int) *screen {
	s := &screen{SafeEmulator: vt.NewSafeEmulator(columns, rows), columns: columns}
	go io.Copy(io.Discard, s) // answers of the terminal
	return s
}

// run runs a command on the screen until it ends, or until a moment after the screen has a text.
func (s *screen) run(cmd *exec.Cmd, until string) error {
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(s.columns), Rows: rows})
	if err != nil {
		return err
	}
	defer f.Close()
	ended := make(chan error, 1)
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			s.Write(buf[:n])
			if err != nil { // EIO at the end
				ended <- cmd.Wait()
				return
			}
		}
	}()
	if until == "" {
		err := <-ended
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
			return nil // the picture shows what is wrong
		}
		return err
	}
	defer func() {
		cmd.Process.Signal(os.Interrupt)
		<-ended
	}()
	for end := time.Now().Add(patience); !strings.Contains(s.String(), until); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("the screen never has %q:\n%s", until, s.String())
		}
	}
	time.Sleep(moment)
	s.frozen = s.lines()
	return nil
}

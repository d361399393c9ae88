//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// onSignals handles the signals of the terminal: another size, and Ctrl-Z.
func (c *Screen) onSignals() (stop func()) {
	sized, stops, done := make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(sized, syscall.SIGWINCH)
	if !signal.Ignored(syscall.SIGTSTP) { // as for a process without job control
		signal.Notify(stops, syscall.SIGTSTP)
	}
	go func() {
		for {
			select {
			case <-sized:
			case <-stops:
				c.pause()
			case <-done:
				return
			}
			c.signal()
		}
	}()
	return func() {
		signal.Stop(sized)
		signal.Stop(stops)
		close(done)
	}
}

// pause leaves the screen to the shell, stops the process as Ctrl-Z does, and enters the screen again when
// the process goes on.
func (c *Screen) pause() {
	c.drawing.Lock()
	defer c.drawing.Unlock()
	if c.closed { // since the signal came
		return
	}
	c.leave()
	if hasShell() {
		goesOn := make(chan os.Signal, 1)
		signal.Notify(goesOn, syscall.SIGCONT)
		syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) // Go's own handler of SIGTSTP stays, and would stop nothing
		<-goesOn
		signal.Stop(goesOn)
	}
	c.s.stdout.WriteString(enterScreen)
}

// hasShell reports whether the parent can continue this process, as a shell with job control can: the
// parent is of the same session, and of another group. The system stops no other process by Ctrl-Z.
func hasShell() bool {
	parent := syscall.Getppid()
	session, err := unix.Getsid(0)
	theirs, failed := unix.Getsid(parent)
	group, unknown := unix.Getpgid(parent)
	return err == nil && failed == nil && unknown == nil && session == theirs && group != unix.Getpgrp()
}

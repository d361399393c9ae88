//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
	"time"
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
				c.pause(stops)
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
func (c *Screen) pause(stops chan os.Signal) {
	c.drawing.Lock()
	defer c.drawing.Unlock()
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	c.leave()
	signal.Reset(syscall.SIGTSTP)
	syscall.Kill(syscall.Getpid(), syscall.SIGTSTP)
	select {
	case <-goesOn:
	case <-time.After(time.Second): // the system stops no process that nobody could continue
	}
	signal.Notify(stops, syscall.SIGTSTP)
	c.s.stdout.WriteString(enterScreen)
}

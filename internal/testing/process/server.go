package process

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/firn-id/firn/internal/testing/wait"
)

// A Server is a process that listens on a port of 127.0.0.1. A Server can be started again.
type Server struct {
	Command []string
	Port    int
	Log     Logbook // the output of all starts

	process *Process // nil before the first start
}

// Start starts the server, and returns when the server listens. The error is [ErrPort] if the
// server ended because another process has the port.
func (s *Server) Start() error {
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	cmd.Stdout, cmd.Stderr = &s.Log, &s.Log
	var err error
	if s.process, err = Start(cmd); err != nil {
		return err
	}
	return s.Listening(s.Host())
}

// Listening is [Process.Listening] of the server's process, for a port beside the first.
func (s *Server) Listening(host string) error { return s.process.Listening(host, &s.Log) }

// Listening waits until the process listens at a host:port. The log is the output of the process.
// The error is [ErrPort] if the process ended because another process has the port.
func (p *Process) Listening(host string, log *Logbook) error {
	listens := false
	wait.For(func() bool {
		if !p.Alive() {
			return true
		}
		conn, err := net.DialTimeout("tcp", host, time.Second)
		if listens = err == nil; listens {
			conn.Close()
		}
		return listens
	})
	switch {
	case listens:
		return nil
	case p.Alive():
		return fmt.Errorf("it does not listen: %s", log)
	case strings.Contains(strings.ToLower(log.String()), ErrPort.Error()):
		return fmt.Errorf("%w: it ended: %s", ErrPort, log)
	}
	return fmt.Errorf("it ended: %s", log)
}

// Host returns the address of the server, as host:port.
func (s *Server) Host() string { return fmt.Sprintf("127.0.0.1:%d", s.Port) }

// Kill ends the server at once (SIGKILL), as a crash does, and returns when the process is gone.
func (s *Server) Kill() {
	if s.process != nil {
		s.process.Kill()
	}
}

// Freeze stops the server (SIGSTOP), and returns when the process stands still.
func (s *Server) Freeze() error { return s.process.Freeze() }

// Thaw ends a Freeze.
func (s *Server) Thaw() error { return s.process.Thaw() }

// A Logbook keeps the output of a process. A Logbook is safe for concurrent use.
type Logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the text.
func (l *Logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String returns the text.
func (l *Logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

package process

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"
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
	for range 1000 {
		if !s.process.Alive() {
			err := fmt.Errorf("it ended: %s", &s.Log)
			if strings.Contains(strings.ToLower(s.Log.String()), ErrPort.Error()) {
				err = fmt.Errorf("%w: %w", ErrPort, err)
			}
			return err
		}
		conn, err := net.DialTimeout("tcp", s.Host(), time.Second)
		if err == nil {
			conn.Close()
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("it does not listen: %s", &s.Log)
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

package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/firn-id/firn/internal/testing/wait"
)

// A Node is one of the servers of a cluster. The methods are safe for concurrent use.
type Node struct {
	Name    string
	Command []string
	Env     []string // nil means the environment of the test
	Log     string   // a file

	mu      sync.Mutex
	process *Process // nil before the first start
	killed  bool
	stopped bool
}

// Start starts the server, and kills a running server first.
func (n *Node) Start() error {
	n.Kill()
	n.mu.Lock()
	defer n.mu.Unlock()
	log, err := os.OpenFile(n.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(n.Command[0], n.Command[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = log, log, n.Env
	n.killed = false
	n.process, err = Start(cmd)
	return err
}

// Kill ends the server at once (SIGKILL), as a crash of the process does, and returns when the process
// is gone.
func (n *Node) Kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopped = false
	if n.process != nil && n.process.Alive() {
		n.killed = true
		n.process.Kill()
	}
}

// Freeze stops the server (SIGSTOP), and Thaw ends the stop. Connections stay open, and the server sends
// nothing.
func (n *Node) Freeze() error { return n.signal((*Process).Freeze, true) }
func (n *Node) Thaw() error   { return n.signal((*Process).Thaw, false) }

func (n *Node) signal(send func(*Process) error, stopped bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil || !n.process.Alive() {
		return fmt.Errorf("%s does not run", n.Name)
	}
	n.stopped = stopped
	return send(n.process)
}

// Pid returns the number of the process, 0 for a server that does not run.
func (n *Node) Pid() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil || !n.process.Alive() {
		return 0
	}
	return n.process.Pid()
}

// Up reports whether the server runs and is not stopped. The error says why the server has ended by
// itself.
func (n *Node) Up() (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.process == nil || n.killed:
		return false, nil
	case n.process.Alive():
		return !n.stopped, nil
	case bytes.Contains(Tail(n.Log, 8192), []byte(ErrPort.Error())):
		return false, fmt.Errorf("%s: %w", n.Name, ErrPort)
	}
	return false, fmt.Errorf("%s has ended by itself: %v", n.Name, n.process.State())
}

// Said returns the last lines of the server's log, without lines that have the text noise.
func (n *Node) Said(noise string) string {
	var lines []string
	for line := range strings.Lines(string(Tail(n.Log, 64<<10))) {
		if noise == "" || !strings.Contains(line, noise) {
			lines = append(lines, line)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "== %s\n", n.Name)
	for _, line := range lines[max(0, len(lines)-20):] {
		fmt.Fprintf(&b, "%.300s\n", strings.TrimSpace(line))
	}
	return b.String()
}

// Until calls a function until the function returns nil. The end of a server by itself is a final error.
func Until(ctx context.Context, what string, nodes []*Node, f func(context.Context) error) error {
	var err, ended error
	wait.For(func() bool {
		for _, n := range nodes {
			if _, ended = n.Up(); ended != nil {
				return true
			}
		}
		err = f(ctx)
		return err == nil || ctx.Err() != nil
	})
	if ended != nil || err == nil {
		return ended
	}
	return fmt.Errorf("%s: %w", what, err)
}

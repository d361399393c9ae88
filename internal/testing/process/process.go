// Package process runs servers for tests. A test can kill and stop the servers, and the servers end
// with the test.
package process

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// A Process is a running program. The methods are safe for concurrent use.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when the process is gone
}

// Start starts a command as a child that ends with this process. On Linux the child ends even if
// this process is killed: by SIGKILL, or by the Pdeathsig of the command. A signal from the
// terminal does not reach the child.
func Start(cmd *exec.Cmd) (*Process, error) {
	bind(cmd)
	started := make(chan error)
	spawner() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// spawner starts processes. Linux ends a child when the thread that started the child ends. A
// thread of its own therefore starts all children, and lasts as long as the program.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Pid returns the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Alive reports whether the process has not ended yet.
func (p *Process) Alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// State waits for the end of the process, and returns how the process ended.
func (p *Process) State() *os.ProcessState {
	<-p.done
	return p.cmd.ProcessState
}

// Kill ends the process at once (SIGKILL), as a crash does, and returns when the process is gone.
func (p *Process) Kill() {
	if p.Alive() {
		p.cmd.Process.Kill()
	}
	<-p.done
}

// Tool returns the path of a program that is the tool of a module, and builds the program first if
// need be. The go command keeps the binary. The module is in a folder relative to the source of the
// caller. Only the go.mod of the module decides the versions: Tool ignores workspaces.
func Tool(ctx context.Context, folder, tool string) (string, error) {
	if !Supported {
		return "", fmt.Errorf("servers for tests take Linux, and this is %s", runtime.GOOS)
	}
	caller, file, _, _ := runtime.Caller(1)
	dir := filepath.Join(filepath.Dir(file), folder)
	if _, err := os.Stat(dir); err != nil { // built with -trimpath
		name := runtime.FuncForPC(caller).Name()
		slash := strings.LastIndexByte(name, '/') + 1
		end, _, _ := strings.Cut(name[slash:], ".")
		out, err := lastLine(exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", name[:slash]+end))
		if err != nil {
			return "", fmt.Errorf("where is the source of %s: %w", name[:slash]+end, err)
		}
		dir = filepath.Join(out, folder)
	}
	build := exec.CommandContext(ctx, "go", "tool", "-n", tool)
	build.Dir = dir
	build.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOOS=", "GOARCH=")
	path, err := lastLine(build)
	if err != nil {
		return "", fmt.Errorf("building %s: %w", tool, err)
	}
	return path, nil
}

// lastLine returns the last line that a command prints.
func lastLine(c *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1], nil
}

// Tail returns the last n bytes of a file, or the part of the file that can be read.
func Tail(path string, n int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		f.Seek(-n, io.SeekEnd)
	}
	content, _ := io.ReadAll(f)
	return content
}

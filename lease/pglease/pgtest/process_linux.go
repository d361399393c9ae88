package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/firn-id/firn/internal/freeze"
)

// program returns the path of one of PostgreSQL's programs, of the newest version.
func program(name string) (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if len(found) > 0 {
		return slices.MaxFunc(found, func(a, b string) int { return major(a) - major(b) }), nil
	}
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin") { // where PgBouncer may be
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, ErrMissing)
}

func major(path string) int {
	n, _ := strconv.Atoi(strings.Split(path, "/")[4])
	return n
}

// An owner is the user that the programs run as: they refuse to be root.
type owner struct {
	uid, gid int
	other    bool // than who runs the test
}

func theOwner() (owner, error) {
	if os.Getuid() != 0 {
		return owner{uid: os.Getuid(), gid: os.Getgid()}, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return owner{}, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return owner{}, err
	}
	gid, err := strconv.Atoi(u.Gid)
	return owner{uid, gid, true}, err
}

func (o owner) attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{}
	if o.other {
		a.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return a
}

// mkdir makes a directory of the owner's.
func (o owner) mkdir() (string, error) {
	dir, err := os.MkdirTemp("", "pgtest-")
	if err == nil && o.other {
		err = os.Chown(dir, o.uid, o.gid)
	}
	return dir, err
}

// run runs a program to its end.
func (o owner) run(path string, args ...string) error {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr, cmd.Dir = o.attributes(), "/"
	cmd.Env = environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(path), err, bytes.TrimSpace(out))
	}
	return nil
}

// environment is that of the test without what programs of PostgreSQL take for settings.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") })
}

// A process is a program that was started.
type process struct {
	cmd  *exec.Cmd
	log  logbook
	done chan struct{} // closed when it has ended
}

// start starts a program that ends with the test, even if that is killed.
func (o owner) start(path string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(path, args...), done: make(chan struct{})}
	p.cmd.SysProcAttr, p.cmd.Dir, p.cmd.Env = o.attributes(), "/", environment()
	p.cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	p.cmd.WaitDelay = 10 * time.Second // for one below it that goes on, with the same output
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // whose end would be that of the program, too
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait() // its errors are in the state of the process
			close(p.done)
		}
	}()
	return p, <-started
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// end waits for the end of a process that was told to. If it does not come, it is killed.
func (p *process) end() {
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		p.signal(syscall.SIGKILL)
		<-p.done
	}
}

// signal sends a signal to the process and to all below it.
func (p *process) signal(sig syscall.Signal) { p.each(func(pid int) { syscall.Kill(pid, sig) }) }

// freeze has the process and all below it stand still.
func (p *process) freeze() { p.each(func(pid int) { freeze.Process(pid) }) } // one that has ended does

// each does something to the process and to all below it, in that order.
func (p *process) each(do func(pid int)) {
	seen := map[int]bool{}
	for again := true; again; { // until there are no new ones
		again = false
		for _, pid := range append([]int{p.cmd.Process.Pid}, children(p.cmd.Process.Pid)...) {
			if !seen[pid] {
				seen[pid], again = true, true
				do(pid)
			}
		}
	}
}

// children returns the processes below one.
func children(pid int) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		content, _ := os.ReadFile(path) // pid (name) state parent …
		_, rest, _ := strings.Cut(string(content), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(append(found, child), children(child)...)
		}
	}
	return found
}

// A logbook keeps what a process says.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// listening waits until a process listens on its port.
func (p *process) listening(port int) error {
	for range 1000 {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), time.Second)
		if err == nil {
			conn.Close()
			return nil
		}
		if p.ended() {
			return errors.New("it ended: " + p.log.String())
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("it does not listen: " + p.log.String())
}

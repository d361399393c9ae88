package pgtest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/firn-id/firn/internal/freeze"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/wait"
)

// program returns the path of a program of PostgreSQL, in the newest version.
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

// An owner is the user of the programs, which refuse to run as root.
type owner struct {
	uid, gid int
	other    bool // than the user of the test
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

// mkdir makes a directory that belongs to the owner.
func (o owner) mkdir() (string, error) {
	dir, err := os.MkdirTemp("", "pgtest-")
	if err == nil && o.other {
		err = os.Chown(dir, o.uid, o.gid)
	}
	return dir, err
}

// run runs a program until the program ends.
func (o owner) run(path string, args ...string) error {
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr, cmd.Dir = o.attributes(), "/"
	cmd.Env = environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(path), err, bytes.TrimSpace(out))
	}
	return nil
}

// environment is the environment of the test without variables that programs of PostgreSQL read.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") })
}

// A group is a running program and all processes below the program.
type group struct {
	*process.Process
	log process.Logbook
}

// start starts a program that ends with the test, even if the test is killed.
func (o owner) start(path string, args ...string) (*group, error) {
	g := new(group)
	cmd := exec.Command(path, args...)
	cmd.SysProcAttr, cmd.Dir, cmd.Env = o.attributes(), "/", environment()
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	cmd.Stdout, cmd.Stderr = &g.log, &g.log
	cmd.WaitDelay = 10 * time.Second // for a child that outlives the program and keeps its output
	var err error
	if g.Process, err = process.Start(cmd); err != nil {
		return nil, err
	}
	return g, nil
}

// end waits for the end of a process, and kills a process that does not end.
func (g *group) end() {
	if !wait.For(func() bool { return !g.Alive() }) {
		g.signal(syscall.SIGKILL)
		<-g.Done()
	}
}

// signal sends a signal to all processes of the group.
func (g *group) signal(sig syscall.Signal) { g.each(func(pid int) { syscall.Kill(pid, sig) }) }

// freeze stops all processes of the group.
func (g *group) freeze() { g.each(func(pid int) { freeze.Process(pid) }) } // a process that has ended stands still, too

// each calls a function for all processes of the group, parents first.
func (g *group) each(do func(pid int)) {
	seen := map[int]bool{}
	for again := true; again; { // until no process is new
		again = false
		for _, pid := range append([]int{g.Pid()}, children(g.Pid())...) {
			if !seen[pid] {
				seen[pid], again = true, true
				do(pid)
			}
		}
	}
}

// children returns the children of a process.
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

// listening waits until a process listens on the port.
func (g *group) listening(port int) error {
	return g.Listening(net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), &g.log)
}

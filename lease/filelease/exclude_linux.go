package filelease

import (
	"bufio"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Locks of open file descriptions, fcntl(2).
const (
	getLock = 36 // F_OFD_GETLK
	setLock = 37 // F_OFD_SETLK
)

// claim locks the byte at in each of the regions of 2^32 bytes, and returns for each region another
// process's lock on another byte, or nil. It locks first and looks afterwards. If two processes
// claim different bytes of a region at once, at least one process finds the other.
//
// The locks are on an object that all processes of the kernel share; see openKernel. The kernel drops
// the locks when the process ends. Locks for reading share a byte and need no right to write.
//
// With an error, release still drops the locks that the kernel gave, if it is not nil.
func claim(at int64, regions []int64) (release func(), found []*clash, err error) {
	kernel, err := openKernel()
	if err != nil {
		return nil, nil, err
	}
	release = func() {
		// Closing alone is not enough: a child process that was just forked may share the file.
		lock(kernel, setLock, &syscall.Flock_t{Type: syscall.F_UNLCK})
		kernel.Close()
	}
	for _, region := range regions {
		if err := lock(kernel, setLock, &syscall.Flock_t{Type: syscall.F_RDLCK, Start: region + at, Len: 1}); err != nil {
			return release, nil, err
		}
	}
	between()
	for _, region := range regions {
		other, err := beside(kernel, region, at)
		if err != nil {
			return release, nil, err
		}
		found = append(found, other)
	}
	return release, found, nil
}

// beside returns a lock of a byte other than at in a region, or nil.
func beside(kernel *os.File, region, at int64) (*clash, error) {
	for i, part := range [][2]int64{{0, math.MaxUint32 + 1}, {0, at}, {at + 1, math.MaxUint32 + 1}} {
		l := syscall.Flock_t{Type: syscall.F_WRLCK, Start: region + part[0], Len: part[1] - part[0]}
		if l.Len == 0 {
			continue // length 0 would mean all bytes to the end
		}
		if err := lock(kernel, getLock, &l); err != nil {
			return nil, err
		}
		switch free := l.Type == syscall.F_UNLCK; {
		case free && i == 0:
			return nil, nil // as almost always: nobody has any byte
		case !free && i > 0:
			return &clash{start: l.Start, length: l.Len, write: l.Type == syscall.F_WRLCK}, nil
		}
	}
	return nil, nil
}

// A clash is a lock of another process in a claim's region.
type clash struct {
	start, length int64 // length 0 means all bytes to the end
	write         bool
}

// foreign reports whether the lock is not a claim. Every user can lock the object.
func (c *clash) foreign() bool { return c.length != 1 || c.write }

// holder names the process that has the lock. If this user may not see the process, holder says how
// root can.
func (c *clash) holder() string {
	end := "EOF"
	if c.length > 0 {
		end = fmt.Sprint(c.start + c.length - 1)
	}
	where := fmt.Sprintf(":%d %d %s", kernelInode(), c.start, end)
	files, _ := filepath.Glob("/proc/[0-9]*/fdinfo/*")
	for _, file := range files {
		if !hasLine(file, where) {
			continue
		}
		pid, _, _ := strings.Cut(strings.TrimPrefix(file, "/proc/"), "/")
		name, _ := os.ReadFile("/proc/" + pid + "/comm")
		return fmt.Sprintf("process %s (%s)", pid, strings.TrimSpace(string(name)))
	}
	return fmt.Sprintf("a process that this user cannot see; root can: grep -l '%s$' /proc/[0-9]*/fdinfo/*", where)
}

// hasLine reports whether a file has a line that begins with "lock:" and ends with a text.
func hasLine(file, end string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false // of another user, or closed meanwhile
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, "lock:") && strings.HasSuffix(line, end) {
			return true
		}
	}
	return false
}

func kernelInode() uint64 {
	f, err := openKernel()
	if err != nil {
		return 0
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return inode("", info)
}

// between is a hook for tests between the two steps of a claim.
var between = func() {}

func lock(f *os.File, command int, l *syscall.Flock_t) error {
	if err := ignoringEINTR(func() error { return syscall.FcntlFlock(f.Fd(), command, l) }); err != nil {
		return &fs.PathError{Op: "fcntl", Path: f.Name(), Err: err}
	}
	return nil
}

// rootDirectory names the root that the paths of this process begin at.
func rootDirectory() string {
	info, err := os.Stat("/")
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", device(info), inode("/", info))
}

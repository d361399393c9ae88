package filelease

import (
	"math"
	"os"
	"syscall"

	"github.com/firn-id/firn/lease/driver"
)

// Locks of open file descriptions, fcntl(2).
const (
	getLock = 36 // F_OFD_GETLK
	setLock = 37 // F_OFD_SETLK
)

// claim locks one of the 2^32 bytes from region on, unless another of these bytes is locked. It
// locks the byte first and looks at the other bytes afterwards. If two processes claim different
// bytes at once, at most one process succeeds.
//
// The locks are on the root directory. Every user can open it, and no other program locks it. The
// kernel keeps locks beside a directory whatever the directory holds, and drops them when the
// process ends. Locks for reading share a byte and need no right to write.
func claim(region, at int64) (_ func(), err error) {
	root, err := os.OpenFile("/", os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	own := syscall.Flock_t{Type: syscall.F_RDLCK, Start: region + at, Len: 1}
	release := func() {
		// Closing alone is not enough: a child process that was just forked may share the file.
		own.Type = syscall.F_UNLCK
		lock(root, setLock, &own)
		root.Close()
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if err := lock(root, setLock, &own); err != nil {
		return nil, err
	}
	between()
	for _, others := range [][2]int64{{0, at}, {at + 1, math.MaxUint32 + 1}} {
		found := syscall.Flock_t{Type: syscall.F_WRLCK, Start: region + others[0], Len: others[1] - others[0]}
		if found.Len == 0 {
			continue // length 0 would mean all bytes to the end
		}
		if err := lock(root, getLock, &found); err != nil {
			return nil, err
		}
		if found.Type != syscall.F_UNLCK {
			return nil, driver.ErrConflict
		}
	}
	return release, nil
}

// between is a hook for tests between the two steps of a claim.
var between = func() {}

func lock(f *os.File, command int, l *syscall.Flock_t) error {
	return ignoringEINTR(func() error { return syscall.FcntlFlock(f.Fd(), command, l) })
}

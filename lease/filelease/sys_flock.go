//go:build linux || darwin || freebsd || openbsd || dragonfly

package filelease

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/firn-id/firn/lease/driver"
)

const (
	supported    = true
	closesEarly  = false // tryLock locks the file
	escapesNames = false

	// A symbolic link must not stand for an entry: a change of the entry would replace the link and
	// leave its target behind. O_NONBLOCK keeps a reader from waiting at a pipe.
	openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
)

// openEntry opens the file of an entry. A socket and the file of a missing device cannot be opened: the errors of the system
// say nothing of that.
func (s *Store) openEntry(key string) (*os.File, error) {
	f, err := os.OpenFile(s.file(key), os.O_RDONLY|openFlags, 0)
	if err == nil {
		return f, nil
	}
	if info, e := os.Lstat(s.file(key)); e == nil && info.Mode()&(fs.ModeSocket|fs.ModeDevice) != 0 {
		err = notRegular(s.file(key))
	}
	return nil, err
}

// tryLock locks an entry by the open file unless the file is locked. It returns a function that
// unlocks the entry, or nil if another process has the lock. The file is closed when the entry is
// unlocked, or at once if tryLock returns no function.
func (s *Store) tryLock(_ string, f *os.File) (unlock func(), err error) {
	err = ignoringEINTR(func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) })
	if err == nil {
		return func() {
			// Closing alone is not enough: a child process that was just forked may share the file.
			syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
			f.Close()
		}, nil
	}
	f.Close()
	if err == syscall.EWOULDBLOCK {
		return nil, nil
	}
	return nil, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
}

// sameTimes reports false: tryLock has closed the entry's file.
func (s *Store) sameTimes(string, entry) bool { return false }

// current reports whether the name of an entry still leads to the file that was locked.
func (s *Store) current(key string, locked entry) bool {
	now, err := os.Lstat(s.file(key))
	return err == nil && os.SameFile(now, locked.info)
}

// link gives a durable file its name, unless the name is taken: then the error is fs.ErrExist. The
// file keeps its old name too.
func link(from, to string) error { return os.Link(from, to) }

// rename gives a durable file the name of another file, and replaces the other file.
func rename(from, to string) error { return os.Rename(from, to) }

// syncNames makes the names in an open folder durable.
func (s *Store) syncNames(folder *os.File, _ ...string) error { return s.sync(folder) }

// syncFolder makes the names in a folder durable.
func syncFolder(folder string) error {
	d, err := openToRead(filepath.Clean(folder))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// openToRead opens a file or a folder. os.Open would also try in vain to poll the file, and take
// longer for the try than for the opening.
func openToRead(path string) (*os.File, error) {
	fd := -1
	err := ignoringEINTR(func() (err error) {
		fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// makeAll makes a directory and the directories above it.
func makeAll(dir string) error { return os.MkdirAll(dir, 0o700) }

// stat returns the target of a path.
func stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// openToAll reports whether every user can write in a folder.
func openToAll(info fs.FileInfo) bool { return info.Mode().Perm()&0o002 != 0 }

// settle makes a folder and the folders above it durable, up to the root of the filesystem.
//
// settle syncs all folders, whichever process made them: the process may have been killed before
// the sync. A folder above the store that this user may not read was not made by this user. The
// creator of each entry settles; later changes need not.
func (s *Store) settle(key, folder string) error {
	inside := strings.Count(key, "/") // steps up to the store's directory
	here, err := os.Stat(folder)
	if err != nil {
		return err
	}
	if inside == 0 { // the place has to be durable before the entry
		d, err := openToRead(folder)
		if err == nil {
			err = s.sync(d)
			d.Close()
		}
		if err != nil {
			return err
		}
	}
	for up := folder + "/.."; ; up += "/.." { // not the parent's name: there may be symbolic links
		d, err := openToRead(up)
		if errors.Is(err, fs.ErrPermission) && inside <= 0 {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Stat()
		if err == nil && (os.SameFile(info, here) || device(info) != device(here)) {
			d.Close()
			return nil
		}
		if err == nil {
			err = s.sync(d)
		}
		d.Close()
		if err != nil {
			return err
		}
		here = info
		inside--
	}
}

// ignoringEINTR repeats a call cut short by a signal.
func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

// access returns an error unless a folder can be read and written.
func access(path string) error {
	if err := syscall.Access(path, 7); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

// device returns the number of a file's filesystem.
func device(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Dev) }

// inode returns the number of a file in the filesystem.
func inode(_ string, info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }

func notDir(path string) error { return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR} }

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// noLinks reports whether a link failed because the filesystem has no links.
func noLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported)
}

// diagnose returns what helps against an error of the system, and the kind of the error.
func diagnose(err error) (driver.Remedy, error) {
	is := func(errno syscall.Errno) bool { return errors.Is(err, errno) }
	switch {
	case is(syscall.EACCES), is(syscall.EPERM):
		return driver.RemedyPermissions, driver.ErrRefused
	case is(syscall.ENOTDIR): // a file is where a folder should be
		return driver.RemedyAddress, driver.ErrRefused
	case is(syscall.ENOENT):
		return driver.RemedyRestored, driver.ErrUnavailable
	case is(syscall.ELOOP), is(syscall.EMLINK): // EMLINK is FreeBSD's word for a symbolic link in the place of an entry
		return driver.RemedyMove, driver.ErrUnsafe
	case is(syscall.ENAMETOOLONG):
		return "", driver.ErrKey
	case is(syscall.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		return driver.RemedyMove, driver.ErrUnsafe
	}
	return driver.RemedySettings, driver.ErrUnavailable // a limit or the disk is at fault
}

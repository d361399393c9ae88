//go:build linux || darwin || freebsd || openbsd || dragonfly

package filelease

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/firn-id/firn/lease/driver"
)

const (
	supported = true

	// A symbolic link must not stand for an entry: a change of the entry would replace the link and
	// leave its target behind. O_NONBLOCK keeps a reader from waiting at a pipe.
	openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
)

// tryLock locks a file unless it is locked, and reports whether it did.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch err {
		case nil:
			return true, nil
		case syscall.EWOULDBLOCK:
			return false, nil
		case syscall.EINTR:
			continue
		}
		return false, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
}

// ignoringEINTR repeats a call that a signal has cut short.
func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

func unlock(f *os.File) { syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// access returns an error unless a folder can be read and written.
func access(path string) error {
	if err := syscall.Access(path, 7); err != nil {
		return &fs.PathError{Op: "access", Path: path, Err: err}
	}
	return nil
}

// device returns the number of a file's filesystem.
func device(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Dev) }

// inode returns the number of a file in its filesystem.
func inode(info fs.FileInfo) uint64 { return uint64(info.Sys().(*syscall.Stat_t).Ino) }

func notDir(path string) error { return &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR} }

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// noLinks reports whether a link failed because the filesystem has no links.
func noLinks(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported)
}

// diagnose returns the advice on an error of the system, and the kind of the error.
func diagnose(err error) (advice string, kind error) {
	kind = driver.ErrUnavailable
	is := func(errno syscall.Errno) bool { return errors.Is(err, errno) }
	switch {
	case full(err):
		advice = "free some space there, or raise the quota"
	case is(syscall.EROFS):
		advice = "mount the filesystem for writing; if it has become read-only by itself, look into the system's log"
	case is(syscall.EACCES), is(syscall.EPERM):
		advice = "run this as the user that owns the store's directory and all that is in it, " +
			"or share it (chgrp -R GROUP and chmod -R g+rwX,g+s)"
	case is(syscall.ENOTDIR):
		advice = "a file is where a folder should be: move it away, or " + adviceDir
	case is(syscall.ENOENT):
		advice = adviceGone
	case is(syscall.ELOOP), is(syscall.EMLINK): // EMLINK is FreeBSD's word for it
		kind = driver.ErrUnsafe
		advice = "there must be no symbolic link in the place of an entry: put what it leads to there"
	case is(syscall.ENAMETOOLONG):
		kind = driver.ErrKey
		advice = "choose a shorter name"
	case is(syscall.EFBIG):
		advice = "raise the limit on the size of files (ulimit -f)"
	case is(syscall.EMFILE), is(syscall.ENFILE):
		advice = "raise the limit on open files (ulimit -n)"
	case is(syscall.ENOLCK), errors.Is(err, errors.ErrUnsupported):
		kind = driver.ErrUnsafe
		advice = "use a directory on a filesystem that has locks, the same for all processes whose IDs have to differ"
	default:
		advice = "look into the system's log for what it says about the disk"
	}
	return advice, kind
}

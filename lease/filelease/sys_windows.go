package filelease

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/firn-id/firn/lease/driver"
)

// Differences on Windows:
//
//   - A locked range of bytes cannot be read by others, and a file that is open can be renamed only
//     by a newer call. The lock of an entry is therefore not on the entry's file, but on one byte
//     of lockFile, far behind its end. Nobody renames lockFile.
//   - There is no fsync of a folder. A name is given by MoveFileEx with MOVEFILE_WRITE_THROUGH,
//     which returns when the name is on the disk. FlushFileBuffers follows, as PostgreSQL does it:
//     NTFS keeps the name of a file in the record of the file, and all changes of names in one log.
//   - Antivirus programs and indexers open new files, and keep them from being renamed for a moment.

const (
	supported    = true
	closesEarly  = true // an open file may keep others from replacing it
	escapesNames = true

	lockFile = ".lock" // no name of a key begins so

	maxBusy = 5 * time.Second // how long other programs may keep a file busy
)

var (
	kernel32                   = syscall.NewLazyDLL("kernel32.dll")
	lockFileEx                 = kernel32.NewProc("LockFileEx")
	unlockFileEx               = kernel32.NewProc("UnlockFileEx")
	moveFileEx                 = kernel32.NewProc("MoveFileExW")
	setFileInformationByHandle = kernel32.NewProc("SetFileInformationByHandle")
)

// Errors of Windows without a name in package syscall.
const (
	errTooManyFiles    = syscall.Errno(4)
	errWriteProtected  = syscall.Errno(19)
	errSharing         = syscall.Errno(32)
	errLocked          = syscall.Errno(33)
	errDiskFull        = syscall.Errno(39)
	errNotSupported    = syscall.Errno(50)
	errDiskFull2       = syscall.Errno(112)
	errInvalidName     = syscall.Errno(123)
	errBadPath         = syscall.Errno(161)
	errNameTooLong     = syscall.Errno(206)
	errDirectory       = syscall.Errno(267)
	errDeletePending   = syscall.Errno(303)
	errIOPending       = syscall.Errno(997)
	errMapped          = syscall.Errno(1224)
	errQuota           = syscall.Errno(1295)
	errInvalidFunction = syscall.Errno(1)
)

const (
	shareAll = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE

	// Flags of CreateFile. A link in the place of an entry is opened itself, and then refused. A
	// folder is opened like a file.
	asItIs       = syscall.FILE_FLAG_OPEN_REPARSE_POINT | syscall.FILE_FLAG_BACKUP_SEMANTICS
	writeThrough = 0x80000000

	accessDelete = 0x00010000 // DELETE
)

// extended returns a path in a form that Windows neither shortens nor takes for a device. The path
// is absolute.
func extended(path string) string {
	path = filepath.Clean(path)
	switch {
	case strings.HasPrefix(path, `\\?\`), strings.HasPrefix(path, `\\.\`):
		return path
	case strings.HasPrefix(path, `\\`):
		return `\\?\UNC` + path[1:]
	}
	return `\\?\` + path
}

// openHandle opens an existing file, and lets other processes rename and replace the file.
func openHandle(path string, access, flags uint32) (*os.File, error) {
	name, err := syscall.UTF16PtrFromString(extended(path))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	h, err := syscall.CreateFile(name, access, shareAll, nil, syscall.OPEN_EXISTING, flags, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// patiently repeats a call that fails because another program has the file open.
func patiently(busy func(error) bool, f func() error) error {
	begin := time.Now()
	for pause := minPause / 16; ; pause = min(2*pause, minPause) {
		err := f()
		if err == nil || !busy(err) || time.Since(begin) > maxBusy {
			return err
		}
		time.Sleep(pause/2 + rand.N(pause))
	}
}

// openToRead opens a file or a folder. os.Open would let nobody rename it, and would fail while
// somebody does.
func openToRead(path string) (f *os.File, err error) {
	err = patiently(isBusy, func() error {
		f, err = openHandle(path, syscall.GENERIC_READ, syscall.FILE_FLAG_BACKUP_SEMANTICS)
		return err
	})
	return f, err
}

var errReplaced = errors.New("another process replaces the entry")

// isBusy reports whether a file could not be opened because of another program.
func isBusy(err error) bool {
	return errors.Is(err, errSharing) || errors.Is(err, errDeletePending) || errors.Is(err, errReplaced)
}

// isKept reports whether a file could not be renamed because of another program. Windows denies
// access to a name whose file is open.
func isKept(err error) bool {
	return isBusy(err) || errors.Is(err, syscall.ERROR_ACCESS_DENIED) || errors.Is(err, errMapped)
}

// openEntry opens the file of an entry.
//
// Windows does not promise that a name is always there while MoveFileEx replaces its file. A writer
// that replaces an entry has the entry's lock. An entry is therefore absent only if it is absent
// under the lock.
func (s *Store) openEntry(key string) (f *os.File, err error) {
	path := s.file(key)
	open := func() (err error) {
		f, err = openHandle(path, syscall.GENERIC_READ, asItIs)
		return err
	}
	err = patiently(isBusy, func() error {
		err := open()
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := s.inTheWay(key); err != nil {
			return err
		}
		lock, locking := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDONLY, 0)
		if errors.Is(locking, fs.ErrNotExist) {
			return err // nobody ever replaced an entry
		}
		if locking != nil {
			return locking
		}
		defer lock.Close()
		at := place64(key)
		if ok, err := lockByte(lock, at, 0); err != nil {
			return err
		} else if !ok {
			return errReplaced
		}
		defer unlockByte(lock, at)
		return open()
	})
	if err == errReplaced {
		err = newError(driver.RemedySettings, "%w: %w", driver.ErrUnavailable, err)
	}
	return f, err
}

// inTheWay returns an error if a file is in the place of a folder of a key. Windows reports only a
// missing path.
func (s *Store) inTheWay(key string) error {
	for i, c := range key {
		if c != '/' {
			continue
		}
		folder := s.folder(key[:i])
		if info, err := os.Stat(folder); err == nil && !info.IsDir() {
			return notDir(folder)
		}
	}
	return nil
}

// place64 returns the byte of lockFile for a key. Two keys with the same byte only wait for each
// other.
func place64(key string) uint64 {
	sum := sha256.Sum256([]byte(key))
	return 1<<32 + binary.BigEndian.Uint64(sum[:])>>16
}

// Flags of LockFileEx.
const (
	failImmediately = 1
	exclusive       = 2
)

// lockByte locks a byte of a file unless the byte is locked, and reports whether it did.
func lockByte(f *os.File, at uint64, how uintptr) (bool, error) {
	place := syscall.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
	ok, _, err := lockFileEx.Call(f.Fd(), how|failImmediately, 0, 1, 0, uintptr(unsafe.Pointer(&place)))
	switch {
	case ok != 0:
		return true, nil
	case err == errLocked, err == errIOPending:
		return false, nil
	}
	return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
}

func unlockByte(f *os.File, at uint64) {
	place := syscall.Overlapped{Offset: uint32(at), OffsetHigh: uint32(at >> 32)}
	unlockFileEx.Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&place)))
}

// tryLock locks an entry unless it is locked. It returns a function that unlocks the entry, or nil
// if another process has the lock.
//
// The entry's file is closed. lockFile is open and so cannot be removed, and the store's directory
// cannot be renamed, before the entry is unlocked.
func (s *Store) tryLock(key string, entry *os.File) (unlock func(), err error) {
	entry.Close()
	var f *os.File
	err = patiently(isBusy, func() (err error) {
		f, err = os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
		return err
	})
	if err != nil {
		return nil, err
	}
	at := place64(key)
	if ok, err := lockByte(f, at, exclusive); !ok {
		f.Close()
		return nil, err
	}
	return func() {
		unlockByte(f, at) // Windows may take its time to unlock a file that is only closed
		f.Close()
	}, nil
}

// sameTimes reports whether an entry seems unchanged since the reading, without opening the file.
func (s *Store) sameTimes(key string, before entry) bool {
	now, err := os.Lstat(s.file(key))
	return err == nil && now.Size() == before.info.Size() && now.ModTime().Equal(before.info.ModTime())
}

// current reports whether an entry is unchanged since the reading before the lock.
func (s *Store) current(key string, before entry) bool {
	f, now, _ := s.read(key, false)
	if f == nil {
		return false
	}
	f.Close()
	return now.Revision == before.Revision
}

// Flags of MoveFileEx.
const (
	moveReplaceExisting = 1
	moveWriteThrough    = 8
)

func move(op, from, to string, flags uintptr) error {
	old, err := syscall.UTF16PtrFromString(extended(from))
	if err == nil {
		var name *uint16
		if name, err = syscall.UTF16PtrFromString(extended(to)); err == nil {
			var ok uintptr
			if ok, _, err = moveFileEx.Call(uintptr(unsafe.Pointer(old)), uintptr(unsafe.Pointer(name)), flags|moveWriteThrough); ok != 0 {
				return nil
			}
		}
	}
	return &os.LinkError{Op: op, Old: from, New: to, Err: err}
}

// link gives a durable file a name, unless the name is taken: then the error is fs.ErrExist. The
// file loses the old name.
func link(from, to string) error {
	return patiently(isKept, func() error {
		err := move("link", from, to, 0)
		if errors.Is(err, syscall.ERROR_ACCESS_DENIED) {
			if _, taken := os.Lstat(to); taken == nil {
				return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.ERROR_ALREADY_EXISTS}
			}
		}
		return err
	})
}

// rename gives a durable file the name of another file, and replaces the other file.
func rename(from, to string) error {
	return patiently(isKept, func() error {
		err := move("rename", from, to, moveReplaceExisting)
		if isKept(err) && renameOpen(from, to) == nil {
			return nil
		}
		return err
	})
}

// renameOpen is rename also while readers have the replaced file open, on NTFS since Windows 10 of
// 2016.
func renameOpen(from, to string) error {
	const (
		fileRenameInfoEx = 22
		replaceIfExists  = 1
		posixSemantics   = 2
	)
	name, err := syscall.UTF16FromString(extended(to))
	if err != nil {
		return err
	}
	info := new(struct { // FILE_RENAME_INFO
		flags  uint32
		root   syscall.Handle
		length uint32 // of name, in bytes, without the 0 at its end
		name   [1 << 15]uint16
	})
	if len(name) > len(info.name) {
		return errNameTooLong
	}
	info.flags, info.length = replaceIfExists|posixSemantics, uint32(2*(len(name)-1))
	copy(info.name[:], name)
	f, err := openHandle(from, accessDelete|syscall.SYNCHRONIZE, writeThrough|asItIs)
	if err != nil {
		return err
	}
	defer f.Close()
	size := unsafe.Offsetof(info.name) + uintptr(2*len(name))
	ok, _, err := setFileInformationByHandle.Call(f.Fd(), fileRenameInfoEx, uintptr(unsafe.Pointer(info)), size)
	if ok != 0 {
		return nil
	}
	return err
}

// syncNames makes the names of files in a folder durable.
func (s *Store) syncNames(_ *os.File, paths ...string) error {
	for _, path := range paths {
		var f *os.File
		err := patiently(isKept, func() (err error) {
			f, err = openHandle(path, syscall.GENERIC_WRITE, asItIs)
			return err
		})
		if err != nil {
			return err
		}
		err = s.sync(f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// syncFolder does nothing, since link and rename return when the new name is on the disk.
func syncFolder(string) error { return nil }

// settle does nothing: makeFolder and makeAll return when the folder's name is on the disk.
func (s *Store) settle(string, string) error { return nil }

// makeAll makes a directory and the directories above it.
func makeAll(dir string) error {
	info, err := os.Stat(dir)
	switch above := filepath.Dir(dir); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return notDir(dir)
	case !errors.Is(err, fs.ErrNotExist) || above == dir:
		return err
	default:
		if err := makeAll(above); err != nil {
			return err
		}
	}
	if err := makeDir(dir); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// makeDir makes a directory. The directory gets its name last, durably.
func makeDir(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return notDir(path)
		}
		return fs.ErrExist
	}
	temp := tempIn(filepath.Dir(path))
	if err := os.Mkdir(temp, 0o700); err != nil {
		return err
	}
	err := link(temp, path)
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// makeFolder makes a folder. If the folder exists, the error is fs.ErrExist. The folder needs no
// holder, since nothing replaces a folder.
func (s *Store) makeFolder(path string) (holder string, err error) { return "", makeDir(path) }

// share does nothing: a new file inherits the rights of the folder.
func (s *Store) share(*os.File, bool) error { return nil }

// openToAll returns false: Go's modes of files say nothing about rights on Windows.
func openToAll(fs.FileInfo) bool { return false }

// access returns an error unless a folder can be read and written.
func access(path string) error {
	const listAddTraverse = 0x1 | 0x2 | 0x4 | 0x20 // FILE_LIST_DIRECTORY, _ADD_FILE, _ADD_SUBDIRECTORY, FILE_TRAVERSE
	f, err := openHandle(path, listAddTraverse, syscall.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return err
	}
	return f.Close()
}

// stat is os.Stat with a difference: the result identifies the present file. A result of os.Stat
// reads the identity later.
func stat(path string) (fs.FileInfo, error) {
	f, err := openHandle(path, 0, syscall.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// inode returns the number of a file in the filesystem, or 0.
func inode(path string, _ fs.FileInfo) uint64 {
	f, err := openHandle(path, 0, syscall.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return 0
	}
	defer f.Close()
	var info syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return uint64(info.FileIndexHigh)<<32 | uint64(info.FileIndexLow)
}

// device returns 0: inode alone distinguishes the directories of a user.
func device(fs.FileInfo) uint64 { return 0 }

// notDir returns an error that is not fs.ErrNotExist, unlike syscall.ENOTDIR on Windows.
func notDir(path string) error { return &fs.PathError{Op: "open", Path: path, Err: errDirectory} }

func full(err error) bool {
	return errors.Is(err, errDiskFull) || errors.Is(err, errDiskFull2) || errors.Is(err, errQuota) || errors.Is(err, syscall.ENOSPC)
}

// noLinks returns false: link needs no hard links.
func noLinks(error) bool { return false }

// diagnose returns what helps against an error of the system, and the kind of the error.
func diagnose(err error) (driver.Remedy, error) {
	is := func(errnos ...syscall.Errno) bool {
		return slices.ContainsFunc(errnos, func(errno syscall.Errno) bool { return errors.Is(err, errno) })
	}
	switch {
	case is(syscall.ERROR_ACCESS_DENIED, syscall.ERROR_PRIVILEGE_NOT_HELD): // or another program keeps the file open
		return driver.RemedyPermissions, driver.ErrUnavailable
	case is(errDirectory): // a file is where a folder should be
		return driver.RemedyAddress, driver.ErrRefused
	case errors.Is(err, fs.ErrNotExist):
		return driver.RemedyRestored, driver.ErrUnavailable
	case is(errNameTooLong, errBadPath, errInvalidName, syscall.ENAMETOOLONG):
		return "", driver.ErrKey
	case is(errNotSupported, errInvalidFunction), errors.Is(err, errors.ErrUnsupported): // another filesystem than NTFS or ReFS
		return driver.RemedyMove, driver.ErrUnsafe
	}
	return driver.RemedySettings, driver.ErrUnavailable // another program has the file open, or a limit or the disk is at fault
}

//go:build !(linux || darwin || freebsd || openbsd || dragonfly || windows)

package filelease

import (
	"errors"
	"io/fs"
	"os"

	"github.com/firn-id/firn/lease/driver"
)

// Solaris and AIX have no flock, and NetBSD gives Go no statfs to tell a network filesystem by.
const (
	supported    = false
	closesEarly  = false
	escapesNames = false
)

func access(string) error                          { return errors.ErrUnsupported }
func device(fs.FileInfo) uint64                    { return 0 }
func inode(string, fs.FileInfo) uint64             { return 0 }
func stat(path string) (fs.FileInfo, error)        { return os.Stat(path) }
func openToRead(string) (*os.File, error)          { return nil, errors.ErrUnsupported }
func openToAll(fs.FileInfo) bool                   { return false }
func notDir(string) error                          { return errors.ErrUnsupported }
func full(error) bool                              { return false }
func noLinks(error) bool                           { return false }
func diagnose(error) (driver.Remedy, error)        { return "", driver.ErrUnsafe }
func statfs(string) (filesystem, error)            { return filesystem{}, errors.ErrUnsupported }
func link(_, _ string) error                       { return errors.ErrUnsupported }
func rename(_, _ string) error                     { return errors.ErrUnsupported }
func makeAll(string) error                         { return errors.ErrUnsupported }
func syncFolder(string) error                      { return errors.ErrUnsupported }
func (*Store) syncNames(*os.File, ...string) error { return errors.ErrUnsupported }
func (*Store) settle(string, string) error         { return errors.ErrUnsupported }
func (*Store) share(*os.File, bool) error          { return errors.ErrUnsupported }
func (*Store) sameTimes(string, entry) bool        { return false }
func (*Store) current(string, entry) bool          { return false }

func (*Store) openEntry(string) (*os.File, error)       { return nil, errors.ErrUnsupported }
func (*Store) makeFolder(string) (string, error)        { return "", errors.ErrUnsupported }
func (*Store) tryLock(string, *os.File) (func(), error) { return nil, errors.ErrUnsupported }

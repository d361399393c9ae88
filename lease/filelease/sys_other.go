//go:build !(linux || darwin || freebsd || openbsd || dragonfly)

package filelease

import (
	"errors"
	"io/fs"
	"os"

	"github.com/firn-id/firn/lease/driver"
)

// Windows has no rename that replaces an open file and is known to be durable, Solaris and AIX have
// no flock, and NetBSD gives Go no statfs to tell a network filesystem by.
const (
	supported = false
	openFlags = 0
)

func tryLock(*os.File) (bool, error)    { return false, errors.ErrUnsupported }
func unlock(*os.File)                   {}
func access(string) error               { return errors.ErrUnsupported }
func device(fs.FileInfo) uint64         { return 0 }
func inode(fs.FileInfo) uint64          { return 0 }
func notDir(string) error               { return errors.ErrUnsupported }
func full(error) bool                   { return false }
func noLinks(error) bool                { return false }
func diagnose(error) (string, error)    { return "", driver.ErrUnsafe }
func statfs(string) (filesystem, error) { return filesystem{}, errors.ErrUnsupported }

func (*Store) share(*os.File) error              { return errors.ErrUnsupported }
func (*Store) makeFolder(string) (string, error) { return "", errors.ErrUnsupported }

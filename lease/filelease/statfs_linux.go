package filelease

import (
	"io/fs"
	"syscall"
)

// statfs returns what a path is on.
func statfs(path string) (filesystem, error) {
	var st syscall.Statfs_t
	if err := ignoringEINTR(func() error { return syscall.Statfs(path, &st) }); err != nil {
		return filesystem{}, &fs.PathError{Op: "statfs", Path: path, Err: err}
	}
	return byMagic(uint32(st.Type)), nil
}

//go:build linux || darwin || freebsd || openbsd || dragonfly

package filelease

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// share gives a file or a folder that this user has made the group of the store's directory, and
// those bits which that has for its group and for others: who may use the directory may use what
// is in it. The umask does not count, which is for what nobody has chosen a place for.
//
// A file gets no bits but for reading: it is never written again, and whoever may write the folder
// may replace it. A folder does not get the sticky bit, with which users could not replace the
// files of each other.
func (s *Store) share(f *os.File) error {
	shared := s.root.Mode().Perm() & 0o077
	if shared == 0 {
		return nil // it is of one user, as what that one makes is
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o600) | shared&0o044
	if info.IsDir() {
		mode = 0o700 | shared | s.root.Mode()&fs.ModeSetgid
	}
	if gid := group(s.root); group(info) != gid && f.Chown(-1, gid) != nil {
		// A user who is not of that group: to those who are of his own this is what it is to others.
		mode = mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
	}
	if info.Mode()&mode == mode {
		return nil
	}
	return f.Chmod(info.Mode() | mode)
}

// makeFolder makes a folder with a file in it, which it returns, or returns an error that is
// fs.ErrExist.
//
// Nobody finds the folder before it is shared: another user would be refused. So it gets its name
// last, and the file is in it by then: a rename leaves a folder alone that is not empty, and would
// replace an empty one under the hands of who is about to write there.
func (s *Store) makeFolder(path string) (holder string, err error) {
	if _, err := os.Lstat(path); err == nil {
		return "", fs.ErrExist
	}
	temp := tempIn(filepath.Dir(path))
	if err := os.Mkdir(temp, 0o700); err != nil {
		return "", err
	}
	holder = tempIn(temp)
	err = os.WriteFile(holder, nil, 0o600)
	if err == nil {
		err = s.shareFolder(temp)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.RemoveAll(temp)
	}
	return filepath.Join(path, filepath.Base(holder)), err
}

func (s *Store) shareFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return s.share(d)
}

// group returns the group of a file.
func group(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Gid) }

//go:build linux || darwin || freebsd || openbsd || dragonfly

package filelease

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// share gives a file or folder of this user the group of the store's directory, and the permissions
// of the directory for its group and for others. Every user of the directory may use its content.
// share ignores the umask, which is for files without a chosen place.
//
// If root makes files in another user's directory, as by a recovery, share gives the files to the
// user: otherwise root's files would lock the user out. If made is false, this process may not have
// made the file. In another user's directory root leaves such a file alone: its name may lead to
// any file of root.
//
// A file gets only the permission to read: no file is written twice, and a user with the permission
// to write the folder may replace the file. A folder does not get the sticky bit, which would keep
// users from replacing the files of each other.
func (s *Store) share(f *os.File, made bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if uid := owner(s.root); uid != 0 && owner(info) == 0 {
		if !made {
			return nil
		}
		// EINVAL: the namespace of users that this process is in does not have the owner.
		if err := f.Chown(uid, group(s.root)); err != nil && !errors.Is(err, syscall.EINVAL) {
			return err
		}
		if info, err = f.Stat(); err != nil {
			return err
		}
	}
	shared := s.root.Mode().Perm() & 0o077
	if shared == 0 {
		return nil // the store belongs to one user, and so do new files
	}
	mode := fs.FileMode(0o600) | shared&0o044
	if info.IsDir() {
		mode = 0o700 | shared | s.root.Mode()&fs.ModeSetgid
	}
	if gid := group(s.root); group(info) != gid && f.Chown(-1, gid) != nil {
		// This user is not in the group. The user's own group gets the permissions of others.
		mode = mode&^(0o070|fs.ModeSetgid) | mode&0o007<<3
	}
	if info.Mode()&mode == mode {
		return nil
	}
	return f.Chmod(info.Mode() | mode)
}

// makeFolder makes a folder with a file, and returns the path of the file. If the folder exists,
// the error is fs.ErrExist.
//
// The folder gets its name last, when it is shared and has the file. Another user that found the
// folder earlier would be refused. A rename would replace an empty folder that another process is
// about to write in, but leaves a folder with a file alone.
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
	d, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	return s.share(d, true)
}

// owner returns the owner of a file.
func owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// group returns the group of a file.
func group(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Gid) }

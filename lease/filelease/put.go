package filelease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

const (
	tempPrefix = ".firn-" // begins like no key's name
	tempAge    = 10 * time.Minute

	minPause = time.Millisecond // between tries of a lock; a write takes some ms
	maxPause = 8 * time.Millisecond
)

// put makes value the key's, if its revision is rev. While another process writes the
// entry it waits, as long as ctx allows; once it writes itself it does not look at ctx.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	held, number, err := s.acquire(ctx, key, rev)
	if err != nil {
		return driver.None, err
	}
	if held != nil {
		// Unlock, besides closing: a child process that was just forked may share the file.
		defer held.Close()
		defer unlock(held)
	}
	content, next := encode(key, number+1, value)
	if err := s.goOn(context.WithoutCancel(ctx), "put"); err != nil {
		return driver.None, err // another's fsync has failed meanwhile
	}
	return next, renamed(s.file(key), s.replace(key, content, held == nil))
}

// acquire returns the file of the entry, locked, and the number of its revision, which is
// rev; or no file, if there is none and rev is None.
//
// The lock alone says nothing: the file may have been replaced before it was locked. If
// it still has its name afterwards, it keeps it: to replace it takes this lock.
//
// The revision is compared at each try, so of those who wait, all but one leave with a
// conflict once an entry has changed; no turn needs to be kept.
func (s *Store) acquire(ctx context.Context, key string, rev driver.Revision) (*os.File, uint64, error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		f, e, err := s.read(key)
		absent := errors.Is(err, driver.ErrNotFound)
		switch {
		case absent && rev == driver.None:
			return nil, 0, nil
		case f != nil && e.Revision == rev: // of a damaged entry, too: a rescue replaces it
		case err == nil:
			f.Close()
			fallthrough
		case absent:
			return nil, 0, driver.ErrConflict
		default:
			if f != nil {
				f.Close()
			}
			return nil, 0, err
		}
		s.hooks.did("open", f.Name(), "")
		locked := s.hooks.unlocked
		if !locked {
			locked, err = tryLock(f)
		}
		if locked && (s.hooks.unchecked || s.hooks.unlocked || s.current(f.Name(), e.info)) {
			return f, e.number, nil
		}
		if locked {
			unlock(f)
		}
		f.Close()
		if err != nil {
			return nil, 0, err
		}
		t := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			t.Stop()
		case <-t.C:
		}
		if ctx.Err() != nil {
			return nil, 0, newError("look for a process that is stopped or hangs, and end it",
				"%w: while another writes the entry: %w", driver.ErrUnavailable, ctx.Err())
		}
	}
}

// current tells whether a path still leads to a file.
func (s *Store) current(path string, info fs.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(now, info)
}

// replace makes content the file of an entry, or creates it. A power failure at any
// moment leaves the old version or the new one; at its return, the new one.
func (s *Store) replace(key string, content []byte, create bool) error {
	path := s.file(key)
	folder := filepath.Dir(path)
	made := false
	if create {
		holders, err := s.makeFolders(folder)
		made = len(holders) > 0
		defer func() {
			for _, holder := range holders {
				os.Remove(holder)
			}
		}()
		if err != nil {
			return err
		}
	}
	if _, err := s.checkFilesystem(folder); err != nil {
		return err
	}
	d, err := os.Open(folder) // before the change: what cannot be opened cannot be synced
	if err != nil {
		return err
	}
	defer d.Close()
	if err := s.prepare(key, folder, d, create, made); err != nil {
		return err
	}
	temp := tempIn(folder)
	if err := s.writeTemp(temp, content); err != nil {
		return err
	}
	if create {
		err = os.Link(temp, path) // unlike rename, this replaces nothing
		if err == nil {
			s.hooks.did("link", temp, path)
		}
		if os.Remove(temp) == nil {
			s.hooks.did("remove", temp, "")
		}
	} else if err = os.Rename(temp, path); err == nil {
		s.hooks.did("rename", temp, path)
	} else {
		os.Remove(temp)
	}
	switch {
	case create && errors.Is(err, fs.ErrExist):
		return driver.ErrConflict
	case create && noLinks(err):
		return newError("use a directory on a filesystem that has hard links, the same for all processes whose IDs have to differ",
			"%w: %w", driver.ErrUnsafe, err)
	case err != nil:
		return err
	}
	return s.sync(d)
}

func tempIn(folder string) string {
	return filepath.Join(folder, fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64()))
}

// writeTemp makes a durable file of the content.
func (s *Store) writeTemp(temp string, content []byte) error {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = s.share(f); err == nil {
		_, err = f.Write(content)
	}
	if err == nil {
		s.hooks.did("write", temp, "")
		err = s.sync(f)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// sync makes a file or a folder durable. If that fails the store is done with: a second
// fsync may succeed and say nothing of the pages that the first has dropped. A full disk
// is the exception while nothing hangs on the file but a name that is given up.
func (s *Store) sync(f *os.File) error {
	err := s.hooks.sync(f)
	if err == nil {
		s.hooks.did("sync", f.Name(), "")
		return nil
	}
	if full(err) && strings.HasPrefix(filepath.Base(f.Name()), tempPrefix) {
		return err
	}
	return s.giveUp(f.Name(), err)
}

// makeFolders makes the folders of a key, but not the store's directory: one that has
// gone was taken away with its entries, and must not be begun anew. It returns a file of each
// folder that it made, to be removed once there is something else in it.
func (s *Store) makeFolders(folder string) (holders []string, err error) {
	at := s.dir
	for name := range strings.SplitSeq(strings.TrimPrefix(folder, s.dir), string(filepath.Separator)) {
		if name == "" {
			continue
		}
		at = filepath.Join(at, name)
		holder, err := s.makeFolder(at)
		if err == nil {
			holders = append(holders, holder)
			s.hooks.did("mkdir", at, "")
		} else if !errors.Is(err, fs.ErrExist) {
			return holders, err
		}
	}
	return holders, nil
}

// prepare does what a folder needs once before this Store writes there: it removes what
// killed processes have left, shares what was made before the store was shared, and, before
// the first entry is created, makes the folder itself durable.
func (s *Store) prepare(key, folder string, d *os.File, create, made bool) error {
	s.mu.Lock()
	settled, swept := s.known[folder]
	s.mu.Unlock()
	if !swept {
		sweep(folder, d)
		s.share(d) // its owner can, and others do not get here if that is needed
	}
	if create && (made || !settled) {
		if err := s.mark(); err != nil {
			return err
		}
		if err := s.settle(key, folder); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.known[folder] = settled || create
	s.mu.Unlock()
	return nil
}

// sweep removes old temporary files. If one is young after all and the clock is wrong, its
// writer cannot rename it, and reports that; no entry depends on it.
func sweep(folder string, d *os.File) {
	found, _ := d.Readdirnames(-1)
	for _, name := range found {
		if !strings.HasPrefix(name, tempPrefix) {
			continue
		}
		path := filepath.Join(folder, name)
		if info, err := os.Lstat(path); err == nil && time.Since(info.ModTime()) > tempAge {
			os.RemoveAll(path)
		}
	}
}

// settle makes the way to a folder durable, from the root of the filesystem on.
//
// It does not matter who has made the folders on it: another process may have, and be
// killed before it could sync them. A folder above the store that may not be read cannot
// have been made by this user. Each entry's creator settles, so who changes one need not.
func (s *Store) settle(key, folder string) error {
	inside := strings.Count(key, "/") // so many steps up lead to the store's directory
	here, err := os.Stat(folder)
	if err != nil {
		return err
	}
	for up := folder + "/.."; ; up += "/.." { // not the parent's name: there may be symbolic links
		d, err := os.Open(up)
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

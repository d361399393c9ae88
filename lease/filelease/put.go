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

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease/driver"
)

const (
	tempPrefix = ".firn-" // no name of a key begins so
	tempAge    = 10 * time.Minute

	minPause = time.Millisecond // between tries of a lock; a write takes some ms
	maxPause = 8 * time.Millisecond
)

// put sets the value of a key if the entry has the revision rev. While another process writes the
// entry, put waits until ctx ends. Once put writes, it no longer looks at ctx.
func (s *Store) put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	unlock, number, err := s.acquire(ctx, key, rev)
	if err != nil {
		return driver.None, err
	}
	create := unlock == nil
	if !create {
		defer unlock()
	}
	content, next := encode(key, number+1, value)
	if err := s.goOn(context.WithoutCancel(ctx), "put"); err != nil {
		return driver.None, err // another call's fsync failed meanwhile
	}
	return next, renamed(s.file(key), s.replace(key, content, create))
}

// acquire locks the entry with the revision rev, and returns a function that unlocks the entry, and
// the number of the revision. If there is no entry and rev is None, acquire returns no function.
//
// The lock alone is not enough: the entry may have been replaced before it was locked. An entry that
// is still the same under the lock stays the same, since a writer needs the lock to replace it.
//
// acquire compares the revision at each try. Once an entry has changed, all other waiters leave
// with a conflict, so waiters need no queue.
func (s *Store) acquire(ctx context.Context, key string, rev driver.Revision) (unlock func(), number uint64, err error) {
	for wait := minPause; ; wait = min(2*wait, maxPause) {
		f, e, err := s.read(key, false)
		absent := errors.Is(err, driver.ErrNotFound)
		switch {
		case absent && rev == driver.None:
			return nil, 0, nil
		case f != nil && e.Revision == rev: // also for a damaged entry: a recovery replaces it
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
		for same := true; same; {
			unlock, err := s.tryLock(key, f)
			if err != nil {
				return nil, 0, err
			}
			if unlock != nil && s.current(key, e) {
				return unlock, e.number, nil
			}
			if unlock != nil {
				unlock()
			}
			if err := pause.For(ctx, wait/2+rand.N(wait)); err != nil {
				return nil, 0, newError(driver.RemedySettings,
					"%w: another process writes the entry, or is stopped while it does: %w", driver.ErrBusy, err)
			}
			same = unlock == nil && s.sameTimes(key, e)
		}
	}
}

// replace replaces or creates the file of an entry. A power failure leaves the old version or the
// new version. Once replace has returned, a power failure leaves the new version.
func (s *Store) replace(key string, content []byte, create bool) error {
	d, err := s.placeFile(key, content, create)
	if err != nil {
		return err
	}
	defer d.Close()
	return s.syncNames(d, s.file(key))
}

// Batch returns how many records a pool grows by: each is a file, and a first start should not take long.
func (s *Store) Batch() int { return 8 }

// GetAll returns the entries of keys.
func (s *Store) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	return driver.GetAll(ctx, s.Handle, keys, func(ctx context.Context, keys []string) ([]driver.Entry, error) {
		var entries []driver.Entry
		for _, key := range keys {
			e, err := s.get(ctx, key)
			if errors.Is(err, driver.ErrNotFound) {
				continue
			}
			e.Key, e.Err = key, err
			entries = append(entries, e)
		}
		return entries, nil
	})
}

// CreateAll creates the entries that don't exist, and syncs each folder once. The entries that existed are then
// durable too: another process may have died before it synced the folder.
func (s *Store) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	return driver.CreateAll(ctx, s.Handle, entries, func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
		revs := make([]driver.Revision, len(entries))
		files := make(map[string][]string) // by folder
		for i, e := range entries {
			path := s.file(e.Key)
			_, _, err := s.acquire(ctx, e.Key, driver.None)
			if err == nil {
				err = s.goOn(context.WithoutCancel(ctx), "put")
			}
			content, next := encode(e.Key, 1, e.Value)
			var d *os.File
			if err == nil {
				d, err = s.placeFile(e.Key, content, true)
			}
			switch {
			case err == nil:
				d.Close()
				revs[i] = next
			case !errors.Is(err, driver.ErrConflict):
				return nil, renamed(path, err)
			}
			files[filepath.Dir(path)] = append(files[filepath.Dir(path)], path)
		}
		for folder, paths := range files {
			d, err := openToRead(folder)
			if err != nil {
				return nil, err
			}
			err = s.syncNames(d, paths...)
			d.Close()
			if err != nil {
				return nil, err
			}
		}
		return revs, nil
	})
}

// placeFile is replace without the sync of the folder, which it returns.
func (s *Store) placeFile(key string, content []byte, create bool) (opened *os.File, err error) {
	path := s.file(key)
	folder := filepath.Dir(path)
	made := false
	if create {
		var holders []string
		holders, err = s.makeFolders(folder)
		made = len(holders) > 0
		defer func() {
			for _, holder := range holders {
				if holder != "" {
					os.Remove(holder)
				}
			}
		}()
		if err != nil {
			return nil, err
		}
	}
	if _, err := s.checkFilesystem(folder); err != nil {
		return nil, err
	}
	d, err := openToRead(folder) // before the change: a folder may have to be opened to be synced
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	if err := s.prepare(key, folder, d, create, made); err != nil {
		return nil, err
	}
	temp := tempIn(folder)
	if err := s.writeTemp(temp, content); err != nil {
		return nil, err
	}
	if create {
		err = link(temp, path) // unlike rename, this replaces nothing
		if err == nil {
			s.hooks.did("link", temp, path)
		}
		if os.Remove(temp) == nil {
			s.hooks.did("remove", temp, "")
		}
	} else if err = rename(temp, path); err == nil {
		s.hooks.did("rename", temp, path)
	} else {
		os.Remove(temp)
	}
	switch {
	case create && errors.Is(err, fs.ErrExist):
		return nil, driver.ErrConflict
	case create && noLinks(err):
		return nil, newError("", "%w: the filesystem has no hard links: %w", driver.ErrUnsafe, err)
	case err != nil:
		return nil, err
	}
	return d, s.checkWay(folder, nil) // a mount that came meanwhile has the change
}

func tempIn(folder string) string {
	return filepath.Join(folder, fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64()))
}

// writeTemp writes the content to a durable file.
func (s *Store) writeTemp(temp string, content []byte) error {
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = s.share(f, true); err == nil {
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

// sync makes a file or a folder durable. If fsync fails, the store gives up: a second fsync may
// succeed although the first fsync dropped pages. A full disk is the exception if only a temporary
// file is lost.
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

// makeFolders makes the folders of a key, but not the store's directory: a missing directory was
// removed with its entries, and must not be made again. It returns a file in each new folder, or
// "". The caller removes the file once the folder has another file.
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

// prepare prepares a folder before this Store first writes there. It removes the temporary files of
// killed processes, shares a folder that was made before the store was shared and, before the first
// entry is created, makes the folder durable.
func (s *Store) prepare(key, folder string, d *os.File, create, made bool) error {
	s.mu.Lock()
	settled, swept := s.known[folder]
	s.mu.Unlock()
	if !swept {
		sweep(folder, d)
		s.share(d, false) // only the owner can; if sharing is needed, other users do not get here
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

// A sweep of a folder looks at so many files. One in so many sweeps looks at all: a start must not
// cost more, the more files the folder has.
const sweptFiles, sweeps = 1024, 64

// sweep removes old temporary files. If the clock is wrong, sweep may remove a young file. The
// writer of the file then reports that the rename failed. No entry depends on the file.
func sweep(folder string, d *os.File) {
	most := sweptFiles
	if rand.IntN(sweeps) == 0 {
		most = -1
	}
	found, _ := d.Readdirnames(most)
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

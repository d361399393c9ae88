package filelease

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/firn-id/firn/lease/driver"
)

func (s *Store) error(op, key string, err error, advice string) error {
	return &driver.Error{Store: s.address, Op: op, Key: key, Err: err, Advice: advice}
}

// fail returns the error for one of the system's.
func (s *Store) fail(op, key string, err error) error {
	advice, kind := diagnose(err)
	return s.error(op, key, fmt.Errorf("%w: %w", kind, err), advice)
}

// admit returns an error if there is no point in beginning.
func (s *Store) admit(ctx context.Context, op, key string) error {
	if s.closed.Load() {
		return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, os.ErrClosed), "")
	}
	if err := s.broken.Load(); err != nil {
		return s.error(op, key, fmt.Errorf("%w: a write to the disk failed: %w", driver.ErrUnavailable, *err),
			"look into the system's log, see that the disk is sound, and start this program again")
	}
	if err := ctx.Err(); err != nil {
		return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, err), "")
	}
	return nil
}

func (s *Store) checkKey(op, key string) error {
	if err := driver.CheckKey(key); err != nil {
		return s.error(op, "", err, "")
	}
	return nil
}

// checkRoot returns an error if the store's directory is not the one that was opened.
// Otherwise a filesystem that is no longer mounted would pass for an empty store.
func (s *Store) checkRoot(op, key string) error {
	now, err := os.Stat(s.dir)
	if err == nil && !os.SameFile(now, s.root) {
		err = fmt.Errorf("%s is no longer the directory that was opened", s.dir)
	}
	if err == nil {
		return nil
	}
	return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, err),
		"put the directory back as it was: its entries keep time that is spent from being given out again")
}

// symlink returns the error for a symbolic link in a folder's place, behind which List
// does not look: it could lead back.
func (s *Store) symlink(op, key, path string) error {
	return s.error(op, key, fmt.Errorf("%w: %s is a symbolic link", driver.ErrUnsafe, path), "put there what it leads to")
}

// unreadable returns the error for a file that is no entry.
func (s *Store) unreadable(op, key, path string, err error) error {
	advice := "leave the file where it is: without it, time that is spent could be given out again; " +
		"put back a copy that is known to be the latest, or use a new pool"
	if errors.Is(err, driver.ErrVersion) {
		advice = "use the version of this program that the others use which share the store"
	}
	return s.error(op, key, fmt.Errorf("%w: %s", err, path), advice)
}

// checkFilesystem returns what a path is on, or an error if that is not safe.
func (s *Store) checkFilesystem(op, key, path string) (filesystem, error) {
	on, err := s.hooks.filesystem(path)
	if err != nil {
		return on, s.fail(op, key, err)
	}
	if on.flaw != "" {
		return on, s.error(op, key, fmt.Errorf("%w: %s is on %s, %s", driver.ErrUnsafe, path, on.name, on.flaw),
			"use a directory on a local disk, or a store that is made for several machines")
	}
	return on, nil
}

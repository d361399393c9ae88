package filelease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/advice"
)

func (s *Store) error(op, key string, err error, advice string) error {
	return &driver.Error{Store: s.address, Op: op, Key: key, Err: err, Advice: advice}
}

// fail returns the error for one of the system's.
func (s *Store) fail(op, key string, err error) error {
	what, kind := diagnose(err)
	return s.error(op, key, fmt.Errorf("%w: %w", kind, s.named(key, err)), what)
}

// named returns an error of the system's with the path of the entry in the place of that of a
// temporary file, whose name tells nobody anything.
func (s *Store) named(key string, err error) error {
	path, link := new(fs.PathError), new(os.LinkError)
	switch {
	case errors.As(err, &link):
		path = &fs.PathError{Op: link.Op, Path: link.Old, Err: link.Err}
	case !errors.As(err, &path):
		return err
	}
	if !strings.Contains(path.Path, string(filepath.Separator)+tempPrefix) {
		return err
	}
	return &fs.PathError{Op: path.Op, Path: s.file(key), Err: path.Err}
}

// admit returns an error if there is no point in beginning.
func (s *Store) admit(ctx context.Context, op, key string) error {
	if s.closed.Load() {
		return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, os.ErrClosed), "")
	}
	if err := s.broken.Load(); err != nil {
		return s.error(op, key, fmt.Errorf("%w: a write to the disk failed: %w", driver.ErrUnavailable, s.named(key, *err)),
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
// Otherwise a filesystem that is no longer mounted would pass for an empty store, and what
// is in the directory that has taken its place for entries of this one.
func (s *Store) checkRoot(op, key string) error {
	now, err := os.Stat(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s was deleted, renamed or unmounted while this store was open: %w", s.dir, err)
	case err != nil:
		return s.fail(op, key, err)
	case !os.SameFile(now, s.root):
		err = fmt.Errorf("%s was replaced by another directory while this store was open", s.dir)
	default:
		return nil
	}
	return s.error(op, key, fmt.Errorf("%w: %w", driver.ErrUnavailable, err), adviceGone)
}

const (
	adviceGone = "put back the directory that was there, whose entries keep time that is spent from being given out again; if it is lost, " +
		advice.Forgotten
	adviceDir = "set HOME or XDG_STATE_HOME, or name the store's directory, the same for all processes whose IDs have to differ"
)

// symlink returns the error for a symbolic link in a folder's place, behind which List
// does not look: it could lead back.
func (s *Store) symlink(op, key, path string) error {
	return s.error(op, key, fmt.Errorf("%w: %s is a symbolic link", driver.ErrUnsafe, path), "put there what it leads to")
}

// unreadable returns the error for a file that is no entry.
func (s *Store) unreadable(op, key, path string, err error) error {
	what := advice.Damaged
	if errors.Is(err, driver.ErrVersion) {
		what = "use the version of this program that the others use which share the store"
	}
	return s.error(op, key, fmt.Errorf("%w: %s", err, path), what)
}

// checkFilesystem returns what a path is on, or an error if that is not safe.
func (s *Store) checkFilesystem(op, key, path string) (filesystem, error) {
	on, err := s.hooks.filesystem(path)
	if err != nil {
		return on, s.fail(op, key, err)
	}
	if on.flaw != "" {
		return on, s.error(op, key, fmt.Errorf("%w: %s is on %s, %s", driver.ErrUnsafe, path, on.name, on.flaw),
			"use a directory on a local disk, the same for all processes whose IDs have to differ, or a store that is made for several machines")
	}
	return on, nil
}

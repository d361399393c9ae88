package filelease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// newError returns an error with a remedy, "" if it follows from the kind of error that the format wraps.
func newError(remedy driver.Remedy, format string, args ...any) error {
	return &driver.Error{Err: fmt.Errorf(format, args...), Remedy: remedy}
}

// renamed returns an error of the system. If the error names a temporary file, renamed puts the
// path in its place.
func renamed(path string, err error) error {
	if _, ok := errors.AsType[*driver.Error](err); ok {
		return err // has words of its own
	}
	at, link := new(fs.PathError), new(os.LinkError)
	switch {
	case errors.As(err, &link):
		at = &fs.PathError{Op: link.Op, Path: link.Old, Err: link.Err}
	case !errors.As(err, &at):
		return err
	}
	if !strings.Contains(at.Path, string(filepath.Separator)+tempPrefix) {
		return err
	}
	return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
}

// noStore returns the error for a directory without the required store. The argument describes the
// fault of the directory.
func (s *Store) noStore(wrong string) error {
	return newError(driver.RemedyCreate, "%w: %w: %s %s", driver.ErrRefused, ErrNoStore, s.dir, wrong)
}

// addressError returns the error for an address in the place of a directory. The error does not
// repeat an address of another store: it may have a secret.
func addressError(addr string) error {
	scheme, rest, _ := strings.Cut(addr, ":")
	if !strings.EqualFold(scheme, "file") {
		return driver.OpenError("file", fmt.Errorf("%w: Open takes a directory, not an address (lease.OpenStore takes one)", driver.ErrAddress), "")
	}
	path := strings.TrimLeft(rest, "/")
	if unescaped, err := url.PathUnescape(path); err == nil {
		path = unescaped
	}
	return driver.OpenError("file", fmt.Errorf("%w: Open takes the directory %s, not file:%s (lease.OpenStore takes an address)",
		driver.ErrAddress, directory(path), rest), "")
}

// giveUp latches the store, because a file or a folder could not be synced.
func (s *Store) giveUp(path string, err error) error {
	if strings.HasPrefix(filepath.Base(path), tempPrefix) {
		path = filepath.Dir(path)
	}
	return driver.Do(context.Background(), s.Handle, "put", func(context.Context) error {
		return driver.Latch(newError(driver.RemedyRestart, "%w: a write to the disk failed: %w", driver.ErrUnavailable, renamed(path, err)))
	})
}

// goOn returns an error if a call must not go on: its context ended, the store was closed, or
// another call gave up.
func (s *Store) goOn(ctx context.Context, op string) error {
	return driver.Do(ctx, s.Handle, op, func(context.Context) error { return nil })
}

// checkRoot returns an error unless the directory is still the directory that was opened. Without
// the check, the mount point of an unmounted filesystem would pass for an empty store, or for a
// store with other entries.
func (s *Store) checkRoot() error {
	now, err := stat(s.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("%s was deleted, renamed or unmounted while this store was open: %w", s.dir, err)
	case err != nil:
		return err
	case !os.SameFile(now, s.root):
		err = fmt.Errorf("%s was replaced by another directory while this store was open", s.dir)
	default:
		return nil
	}
	return newError(driver.RemedyRestored, "%w: %w", driver.ErrUnavailable, err)
}

// notRegular returns the error for a folder, a pipe, a socket or a device in the place of an entry. A recovery makes
// the entry again once it was moved away.
func notRegular(path string) error {
	return newError("", "%w: not a regular file, move it away: %s", driver.ErrDamaged, path)
}

// unreadable returns the error for a file without a valid entry.
func unreadable(path string, err error) error {
	return newError("", "%w: %s", err, path)
}

// checkFilesystem returns the filesystem of a path, or an error if the filesystem is not safe.
func (s *Store) checkFilesystem(path string) (filesystem, error) {
	on, err := s.hooks.filesystem(path)
	if err != nil {
		return on, err
	}
	if on.flaw != "" {
		return on, newError("", "%w: %s is on %s, %s", driver.ErrUnsafe, path, on.name, on.flaw)
	}
	return on, nil
}

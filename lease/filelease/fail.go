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
	"github.com/firn-id/firn/lease/internal/advice"
)

// newError returns an error with advice. The format wraps a kind of error.
func newError(advice, format string, args ...any) error {
	return &driver.Error{Err: fmt.Errorf(format, args...), Advice: advice}
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
	return newError("see that the path is right and its filesystem mounted; if there never were pools, create one once (lease.Create); "+advice.Lost,
		"%w: %w: %s %s", driver.ErrRefused, ErrNoStore, s.dir, wrong)
}

// addressError returns the error for an address in the place of a directory. The error does not
// repeat an address of another store: it may have a secret.
func addressError(addr string) error {
	scheme, rest, _ := strings.Cut(addr, ":")
	if !strings.EqualFold(scheme, "file") {
		return driver.OpenError("file", fmt.Errorf("%w: Open takes a directory, and this is an address", driver.ErrAddress),
			"open it by lease.OpenStore, or name a directory")
	}
	path := strings.TrimLeft(rest, "/")
	if unescaped, err := url.PathUnescape(path); err == nil {
		path = unescaped
	}
	return driver.OpenError("file", fmt.Errorf("%w: Open takes a directory, and this is file:%s", driver.ErrAddress, rest),
		fmt.Sprintf("name the directory %s; lease.OpenStore opens the store of an address", directory(path)))
}

// giveUp latches the store, because a file or a folder could not be synced.
func (s *Store) giveUp(path string, err error) error {
	if strings.HasPrefix(filepath.Base(path), tempPrefix) {
		path = filepath.Dir(path)
	}
	return driver.Do(context.Background(), s.Handle, "put", func(context.Context) error {
		return driver.Latch(newError("look into the system's log, see that the disk is sound, and start this program again",
			"%w: a write to the disk failed: %w", driver.ErrUnavailable, renamed(path, err)))
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
	return newError(adviceGone, "%w: %w", driver.ErrUnavailable, err)
}

const (
	adviceGone = "put back the directory that was there, whose entries keep used timestamps from being given out again; if it is lost, " +
		advice.Forgotten
	adviceDir     = "name the store's directory, the same for all processes whose IDs have to differ"
	adviceDefault = adviceHome + ", or " + adviceDir
	adviceStopped = "look for a process that is stopped or hangs, and end it"
)

// notRegular returns the error for a folder, a pipe, a socket or a device in the place of an entry.
func notRegular(path string) error {
	return newError("move it away; then rescue the pool (lease.Rescue), which makes the entry again", "%w: not a regular file: %s", driver.ErrDamaged, path)
}

// unreadable returns the error for a file without a valid entry.
func unreadable(path string, err error) error {
	what := advice.Damaged
	if errors.Is(err, driver.ErrVersion) {
		what = "use the version of this program that the other users of the store have"
	}
	return newError(what, "%w: %s", err, path)
}

// checkFilesystem returns the filesystem of a path, or an error if the filesystem is not safe.
func (s *Store) checkFilesystem(path string) (filesystem, error) {
	on, err := s.hooks.filesystem(path)
	if err != nil {
		return on, err
	}
	if on.flaw != "" {
		return on, newError("use a directory on a local disk, the same for all processes whose IDs have to differ, or a store that is made for several machines",
			"%w: %s is on %s, %s", driver.ErrUnsafe, path, on.name, on.flaw)
	}
	return on, nil
}

// Package filelease keeps the entries of leases as files, for the processes of one
// machine.
//
// The entry of the key a/b/0007 is the file a/b/0007= below the directory of the store;
// keys have no '=', so that a/b can be an entry besides, and a file that is not the
// store's is not taken for one. The file of an entry is never written again: a change is
// a new file, durable before it takes the old one's name. So a reader needs no lock, and finds the whole of one version
// whatever becomes of a writer. Writers of an entry exclude each other by a lock (flock)
// on its file, which the system drops with the process that holds it; they share no
// other file, so a process that is stopped while it writes holds up nobody but those
// who want to write the same entry.
//
// What reads as no version of an entry is reported and left alone: to take it for a
// missing one would give out spent time again.
//
// A directory that Open makes is its user's own. One that users share is made before, for
// a group of theirs (mkdir -m 2770): what is made in it can be used by whoever can use it.
package filelease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firn-id/firn/lease/driver"
)

// Store is a [driver.Store] in a directory.
type Store struct {
	dir      string
	address  string
	root     fs.FileInfo // the directory as it was opened
	warnings []string
	hooks    hooks

	closed atomic.Bool
	broken atomic.Pointer[error] // the fsync that failed, after which nothing is certain

	mu    sync.Mutex
	known map[string]bool // folders that need no more care before a write, see prepare
}

var _ driver.Store = (*Store)(nil)

// hooks are what tests put in the system's place, or watch.
type hooks struct {
	filesystem func(path string) (filesystem, error)
	sync       func(*os.File) error
	note       func(step, path, to string) // is told of each step of a write, after it

	unlocked, unchecked bool // known-bad: leave out the lock, or the look after it
}

func (h *hooks) did(step, path, to string) {
	if h.note != nil {
		h.note(step, path, to)
	}
}

// DefaultDir returns the directory for a user's own store: firn in $XDG_STATE_HOME, or
// else in ~/.local/state. A relative $XDG_STATE_HOME does not count.
func DefaultDir() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "firn"), nil
	}
	home, err := os.UserHomeDir()
	if err == nil && !filepath.IsAbs(home) {
		err = fmt.Errorf("the home directory %q is not an absolute path", home)
	}
	if err != nil {
		return "", &driver.Error{
			Store: "file", Op: "open", Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err),
			Advice: "name a directory for the store, or set XDG_STATE_HOME or HOME",
		}
	}
	return filepath.Join(home, ".local", "state", "firn"), nil
}

// Open returns the store in a directory, which it makes if there is none.
//
// An error that is [driver.ErrUnsafe] says that the directory is on a filesystem where
// leases would not be safe, such as one that machines share, or that this system is not
// supported.
func Open(dir string) (*Store, error) {
	return open(dir, hooks{filesystem: statfs, sync: (*os.File).Sync})
}

// open makes nothing durable, so that it is cheap: that is left to the first write,
// before which there is nothing to lose.
func open(dir string, h hooks) (*Store, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		path = dir
	}
	s := &Store{dir: path, hooks: h, known: make(map[string]bool)}
	s.address = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	if !supported {
		return nil, s.error("open", "", fmt.Errorf("%w: files are not supported on %s", driver.ErrUnsafe, runtime.GOOS),
			"use another kind of store")
	}
	if dir == "" {
		err = errors.New("no directory is given")
	}
	if err != nil {
		return nil, s.error("open", "", fmt.Errorf("%w: %w", driver.ErrUnavailable, err), "name the store's directory by an absolute path")
	}
	if s.root, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(path, 0o700); err == nil {
			s.root, err = os.Stat(path)
		}
	}
	if err == nil && !s.root.IsDir() {
		err = notDir(path)
	}
	if err != nil {
		return nil, s.fail("open", "", err)
	}
	on, err := s.checkFilesystem("open", "", path)
	if err != nil {
		return nil, err
	}
	if err := access(path); err != nil {
		return nil, s.fail("open", "", err)
	}
	if on.warning != "" {
		s.warnings = append(s.warnings, path+" is on "+on.name+": "+on.warning)
	}
	if s.root.Mode().Perm()&0o002 != 0 {
		s.warnings = append(s.warnings, path+" can be written by every user: chmod o-w")
	}
	return s, nil
}

// String returns the address: file:// and the path of the directory.
func (s *Store) String() string { return s.address }

// Warnings returns what is worth knowing about the place of the store, one sentence
// each, though it can be used.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// Close makes the store refuse further calls; it holds nothing that must be released.
func (s *Store) Close() error {
	s.closed.Store(true)
	return nil
}

// Get returns the entry of a key.
//
// It takes no lock: a name leads to one version of the entry or, from the moment of the
// rename, to the next, and never to none; and what it led to does not change. So the
// entry is that of the moment of opening. That version may still be on its way to the
// disk: should the power fail then, it is lost with every process that has seen it. Who
// must know that a change is durable waits for its Put.
func (s *Store) Get(ctx context.Context, key string) (driver.Entry, error) {
	err := s.admit(ctx, "get", key)
	if err == nil {
		err = s.checkKey("get", key)
	}
	if err != nil {
		return driver.Entry{}, err
	}
	f, e, err := s.read("get", key)
	if err != nil {
		return driver.Entry{}, err
	}
	f.Close()
	return e.Entry, nil
}

// List returns the entries whose keys begin with the prefix. If some cannot be read, it
// returns the others and the error of the first of them.
func (s *Store) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	if err := s.admit(ctx, "list", ""); err != nil {
		return nil, err
	}
	folder := ""
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		folder = prefix[:i]
		if driver.CheckKey(folder) != nil {
			return nil, nil // no key begins so, and "../" must not lead outside
		}
	}
	var entries []driver.Entry
	err := s.walk(ctx, folder, prefix, &entries)
	if err == nil {
		err = s.checkRoot("list", "")
	}
	slices.SortFunc(entries, func(a, b driver.Entry) int { return cmp.Compare(a.Key, b.Key) })
	return entries, err
}

// walk adds the entries below a folder, and returns the first error.
func (s *Store) walk(ctx context.Context, folder, prefix string, entries *[]driver.Entry) error {
	found, err := names(s.folder(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return s.fail("list", "", err)
	}
	var first error
	for _, file := range slices.Sorted(maps.Keys(found)) {
		name, isEntry := strings.CutSuffix(file, suffix)
		key := path.Join(folder, name)
		below := strings.HasPrefix(key+"/", prefix) || strings.HasPrefix(prefix, key+"/")
		if driver.CheckKey(name) != nil || isEntry && !strings.HasPrefix(key, prefix) || !isEntry && !below {
			continue
		}
		if err = s.admit(ctx, "list", ""); err != nil {
			return err
		}
		switch {
		case isEntry:
			var f *os.File
			var e entry
			if f, e, err = s.read("list", key); err == nil {
				f.Close()
				*entries = append(*entries, e.Entry)
			}
		case found[file].IsDir():
			err = s.walk(ctx, key, prefix, entries)
		case found[file]&fs.ModeSymlink != 0:
			err = s.symlink("list", key, s.folder(key))
		}
		if first == nil && !errors.Is(err, driver.ErrNotFound) {
			first = err
		}
	}
	return first
}

// names returns the names in a folder and the types of what they lead to.
//
// It reads until a reading brings nothing new, since a system may leave a name out that
// is renamed over meanwhile: that takes one entry away and adds another.
func names(path string) (map[string]fs.FileMode, error) {
	found := make(map[string]fs.FileMode)
	for readings, fresh := 0, true; fresh || readings < 2; readings++ {
		d, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		list, err := d.ReadDir(-1)
		d.Close()
		if err != nil {
			return nil, err
		}
		before := len(found)
		for _, e := range list {
			if !strings.HasPrefix(e.Name(), tempPrefix) {
				found[e.Name()] = e.Type()
			}
		}
		fresh = len(found) > before
	}
	return found, nil
}

// read opens and reads the file of an entry.
func (s *Store) read(op, key string) (*os.File, entry, error) {
	f, err := os.OpenFile(s.file(key), os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.checkRoot(op, key); err != nil {
			return nil, entry{}, err
		}
		return nil, entry{}, s.error(op, key, driver.ErrNotFound, "")
	}
	if err != nil {
		return nil, entry{}, s.fail(op, key, err)
	}
	e, err := s.readFile(op, key, f)
	if err != nil {
		f.Close()
		return nil, entry{}, err
	}
	return f, e, nil
}

func (s *Store) readFile(op, key string, f *os.File) (entry, error) {
	info, err := f.Stat()
	if err != nil {
		return entry{}, s.fail(op, key, err)
	}
	var content []byte
	switch size := info.Size(); {
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%w: not a regular file", driver.ErrDamaged)
	case size > maxFile:
		err = fmt.Errorf("%w: %d bytes are more than an entry has", driver.ErrDamaged, size)
	default:
		content = make([]byte, size)
		n, err := io.ReadFull(f, content)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return entry{}, s.fail(op, key, err)
		}
		content = content[:n]
	}
	var e entry
	if err == nil {
		e, err = decode(key, content)
	}
	if err != nil {
		return entry{}, s.unreadable(op, key, f.Name(), err)
	}
	e.info = info
	return e, nil
}

// suffix ends the names of the files of entries.
const suffix = "="

// file returns the path of an entry's file, and folder that of the folder of the keys
// that begin with a name.
func (s *Store) file(key string) string    { return s.folder(key) + suffix }
func (s *Store) folder(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

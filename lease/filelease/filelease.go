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
// missing one would give out spent time again. A rescue of the pool replaces it.
//
// A directory that Open makes is its user's own. One that users share is made before, for
// a group of theirs (mkdir -m 2770): what is made in it can be used by whoever can use it.
//
// Pools in two directories know nothing of each other, and hand out the same workers. That is
// for users, containers and restored backups to mind, and this package helps: OpenDefault
// refuses a directory that is lost with its container or at a restart, and keeps the users of a
// machine, each of which has a directory, from using a worker at the same time; Open refuses
// a copy of a directory; and Inspect tells what a directory can lose that a program has named.
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

	"github.com/firn-id/firn/lease/driver"
)

// A Store keeps entries in a directory. It implements [driver.Store] by its [driver.Handle], and [driver.Inspector],
// [driver.Excluder] and [driver.Local].
//
// After a failed fsync the Store refuses all calls, since what is in memory need no longer be what is on the disk.
type Store struct {
	*driver.Handle
	dir       string
	path      string      // dir without symbolic links
	root      fs.FileInfo // the directory as it was opened
	byDefault bool        // nobody has named the directory
	findings  []driver.Finding
	hooks     hooks

	mu    sync.Mutex
	known map[string]bool // folders that need no more care before a write, see prepare
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
	_ driver.Excluder  = (*Store)(nil)
	_ driver.Local     = (*Store)(nil)
)

// hooks are what tests put in the system's place, or watch.
type hooks struct {
	filesystem func(path string) (filesystem, error)
	here       func(path string) (place, error)
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
		return "", driver.OpenError("file", err, adviceDir)
	}
	return filepath.Join(home, ".local", "state", "firn"), nil
}

// Open returns the store in a directory, which it makes if there is none.
//
// The error is [driver.ErrUnsafe] if leases would not be safe in the directory: this system is
// not supported, or the filesystem is one of several machines, for example. The error is
// [ErrCopied] as well if the directory is a copy of another store's directory. [Store.Inspect]
// says what the directory can lose.
func Open(dir string) (*Store, error) { return open(dir, named, system) }

// ErrPassing reports that the default directory does not last: OpenDefault refuses it, and Open does not.
var ErrPassing = errors.New("the default directory does not last")

// OpenDefault returns the store in the directory that [DefaultDir] names, for programs whose
// operators have named none.
//
// Nobody has thought about such a directory, so OpenDefault refuses more than Open does: a
// directory whose entries are lost with a container or at a restart gives an error that is
// [driver.ErrUnsafe] and [ErrPassing]. Every user of the machine has such a store; see [Store.Exclude].
func OpenDefault() (*Store, error) {
	dir, err := DefaultDir()
	if err != nil {
		return nil, err
	}
	return open(dir, byDefault, system)
}

// OpenCopy is Open, but does not refuse a copy. It is for a restored backup, and for a copy whose
// original is gone for good: rescue all pools of the store (lease.Rescue), and then have Open take it by
// [Store.Adopt], before any other process uses the directory.
func OpenCopy(dir string) (*Store, error) { return open(dir, copied, system) }

// A choice says how a store's directory was chosen.
type choice int

const (
	named choice = iota
	byDefault
	copied
)

var system = hooks{filesystem: statfs, here: here, sync: (*os.File).Sync}

const nameDirectory = "name a directory that all generators of this machine share, on a volume if this is a container; " +
	"or use a store that machines share; or give each generator a worker of its own by hand"

// open makes nothing durable, so that it is cheap: that is left to the first write,
// before which there is nothing to lose.
func open(dir string, chosen choice, h hooks) (*Store, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		path = dir
	}
	s := &Store{dir: path, path: path, byDefault: chosen == byDefault, hooks: h, known: make(map[string]bool)}
	s.Handle = driver.New(driver.Backend{
		Address: (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(),
		Get:     s.get, List: s.list, Put: s.put, Diagnose: diagnose,
	})
	if dir == "" {
		err = errors.New("no directory is given")
	}
	if err != nil {
		return nil, driver.OpenError(s.String(), err, "name the store's directory by an absolute path")
	}
	if err := driver.Do(context.Background(), s.Handle, "open", func(context.Context) error { return s.check(chosen) }); err != nil {
		return nil, err
	}
	return s, nil
}

// check makes the directory if there is none, and returns an error unless leases are safe there.
func (s *Store) check(chosen choice) (err error) {
	if !supported {
		return newError("use a store of another kind", "%w: files are not supported on %s", driver.ErrUnsafe, runtime.GOOS)
	}
	if s.root, err = os.Stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		switch err = os.MkdirAll(s.dir, 0o700); {
		case err == nil:
			s.root, err = os.Stat(s.dir)
		case !full(err): // nor has anybody else a store there
			return newError("no directory can be made there: "+adviceDir, "%w: %w", driver.ErrUnavailable, err)
		}
	}
	if err == nil && !s.root.IsDir() {
		err = notDir(s.dir)
	}
	if err != nil {
		return err
	}
	on, err := s.checkFilesystem(s.dir)
	if err != nil {
		return err
	}
	if err := access(s.dir); err != nil {
		return err
	}
	if chosen != copied {
		if err := s.checkPlace(); err != nil {
			return err
		}
	}
	if resolved, err := filepath.EvalSymlinks(s.dir); err == nil {
		s.path = resolved
	}
	return s.inspect(on)
}

// inspect notes what the directory can lose. Its error is that nobody has chosen a directory that
// loses entries.
func (s *Store) inspect(on filesystem) error {
	find := func(loses bool, text, advice string) {
		s.findings = append(s.findings, driver.Finding{Loses: loses, Text: text, Advice: advice})
	}
	if on.loses == "" && onPassingMount(s.path) {
		on.name, on.loses, on.advice = "a volume that is removed with a container or a pod", layered, useVolume
	}
	if on.loses != "" {
		if s.byDefault {
			return newError(nameDirectory, "%w: %w: %s is on %s, whose %s", driver.ErrUnsafe, ErrPassing, s.dir, on.name, on.loses)
		}
		find(true, fmt.Sprintf("%s is on %s, whose %s", s.dir, on.name, on.loses), on.advice)
	}
	if s.root.Mode().Perm()&0o002 != 0 {
		find(true, s.dir+" can be written by every user, who can take its entries away", "chmod o-w "+s.dir)
	}
	if s.byDefault && runtime.GOOS != "linux" {
		find(false, "each user of the machine has a pool, and the workers of two users can be the same",
			"let users share a directory that you name")
	}
	return nil
}

// Inspect returns how the store can lose entries that it has acknowledged, the worst first.
func (s *Store) Inspect(context.Context) ([]driver.Finding, error) {
	return slices.Clone(s.findings), nil
}

// Local returns true: the directory is on this machine, so all processes that use its pools run here.
func (s *Store) Local() bool { return true }

// get returns the entry of a key.
//
// It takes no lock: a name leads to one version of the entry or, from the moment of the
// rename, to the next, and never to none; and what it led to does not change. So the
// entry is that of the moment of opening. That version may still be on its way to the
// disk: should the power fail then, it is lost with every process that has seen it. Who
// must know that a change is durable waits for its Put.
func (s *Store) get(_ context.Context, key string) (driver.Entry, error) {
	f, e, err := s.read(key)
	if f != nil {
		f.Close()
	}
	return e.Entry, err
}

func (s *Store) list(ctx context.Context, prefix string) ([]driver.Entry, error) {
	folder := ""
	if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
		folder = prefix[:i]
	}
	var entries []driver.Entry
	err := s.walk(ctx, folder, prefix, &entries)
	if err == nil {
		err = s.checkRoot()
	}
	return entries, err
}

// walk adds the entries below a folder, and returns the first error that is not an entry's.
func (s *Store) walk(ctx context.Context, folder, prefix string, entries *[]driver.Entry) error {
	found, err := names(s.folder(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var first error
	for _, file := range slices.Sorted(maps.Keys(found)) {
		name, isEntry := strings.CutSuffix(file, suffix)
		key := path.Join(folder, name)
		below := strings.HasPrefix(key+"/", prefix) || strings.HasPrefix(prefix, key+"/")
		if driver.CheckKey(name) != nil || isEntry && !strings.HasPrefix(key, prefix) || !isEntry && !below {
			continue
		}
		if err = s.goOn(ctx, "list"); err != nil {
			return err
		}
		switch {
		case isEntry:
			f, e, err := s.read(key)
			if f != nil {
				f.Close()
			}
			if !errors.Is(err, driver.ErrNotFound) {
				e.Key, e.Err = key, err
				*entries = append(*entries, e.Entry)
			}
		case found[file].IsDir():
			err = s.walk(ctx, key, prefix, entries)
		case found[file]&fs.ModeSymlink != 0:
			err = s.symlink(key)
		}
		first = cmp.Or(first, err)
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

// read opens and reads the file of an entry. If the entry is damaged, and can be replaced, it
// returns the file and the entry's revision with the error.
func (s *Store) read(key string) (*os.File, entry, error) {
	f, err := os.OpenFile(s.file(key), os.O_RDONLY|openFlags, 0)
	if moved := s.checkRoot(); moved != nil { // then the file is another store's
		if err == nil {
			f.Close()
		}
		return nil, entry{}, moved
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, entry{}, driver.ErrNotFound
	}
	if err != nil {
		return nil, entry{}, err
	}
	e, err := readFile(key, f)
	if err != nil && e.Revision == driver.None {
		f.Close()
		return nil, entry{}, err
	}
	return f, e, err
}

func readFile(key string, f *os.File) (entry, error) {
	info, err := f.Stat()
	if err != nil {
		return entry{}, err
	}
	if !info.Mode().IsRegular() {
		return entry{}, newError("move it away; then rescue the pool (lease.Rescue), which makes the entry anew",
			"%w: not a regular file: %s", driver.ErrDamaged, f.Name())
	}
	var content []byte
	switch size := info.Size(); {
	case size > maxFile:
		err = fmt.Errorf("%w: %d bytes are more than an entry has", driver.ErrDamaged, size)
	default:
		content = make([]byte, size)
		n, err := io.ReadFull(f, content)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return entry{}, err
		}
		content = content[:n]
	}
	var e entry
	if err == nil {
		e, err = decode(key, content)
	}
	if err != nil {
		if errors.Is(err, driver.ErrDamaged) {
			e = damaged(key, info)
		}
		return e, unreadable(f.Name(), err)
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

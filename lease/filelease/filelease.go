// Package filelease keeps the entries of leases as files, for the processes of one machine.
//
// The entry of the key a/b/0007 is the file a/b/0007= below the directory of the store. Keys have
// no '=', so a/b can be an entry as well as a folder, and other files never pass for entries. The
// store never writes an entry's file again. A change is a new file, which becomes durable before
// taking the old file's name. Readers therefore need no lock, and find one whole version whatever
// happens to a writer. Writers of an entry exclude each other by a lock (flock) on the entry's
// file. The system drops the lock when the process ends. Writers share no other file, and a process
// that is stopped in a write delays only writers of the same entry.
//
// On Windows, the lock of an entry is a lock (LockFileEx) on one byte of the file .lock. A file gets
// its name by MoveFileEx with MOVEFILE_WRITE_THROUGH, and is flushed before and after. A name with
// another meaning in Windows has a '~': con~ is the folder of the keys that begin with con/.
//
// The store reports a damaged file and does not touch the file. To take a damaged entry for a
// missing entry would give out timestamps a second time. A recovery of the pool replaces the entry.
//
// A store is one filesystem. A container can have the directory without the mounts in it, or other
// targets of its links, and would find other entries under the same keys. A folder or a file of the
// store that is a mount of its own or a symbolic link is therefore refused at each access, and so is
// a folder that is a subvolume of Btrfs. The directory itself may be a mount, or behind a link.
//
// A directory made by Open belongs to one user. To share a directory, make it before, for a group
// of users (mkdir -m 2770). All users of the directory can then use its files. Files made by root
// in a directory belong to the directory's owner. On Windows, a directory and the files in it
// inherit the rights of the folder above.
//
// Pools in two directories know nothing of each other and hand out the same workers. Users,
// containers and restored backups can come to have two directories. Open refuses a copy of a
// directory. Inspect reports how a directory can be lost, for example with its container.
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

	"github.com/firn-id/firn/internal/shell"
	"github.com/firn-id/firn/lease/driver"
)

// A Store keeps entries in a directory. It implements [driver.Store] by its [driver.Handle], and
// [driver.Confirmer], [driver.Inspector], [driver.Excluder] and [driver.Local].
//
// After a failed fsync the Store refuses all calls: the file in memory and the file on the disk may
// differ. A lease opens the directory again, and goes on if nothing that it knows is missing.
type Store struct {
	*driver.Handle
	dir      string
	path     string      // dir without symbolic links
	place    string      // of the directory in its filesystem, see inFilesystem
	root     fs.FileInfo // the directory as it was opened
	noCreate bool        // see NoCreate
	hooks    hooks

	mu       sync.Mutex
	known    map[string]bool // folders that need no more care before a write, see prepare
	findings []driver.Finding
	id       string // the identity, or "" if it was not read yet
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Batcher   = (*Store)(nil)
	_ driver.Confirmer = (*Store)(nil)
	_ driver.Inspector = (*Store)(nil)
	_ driver.Excluder  = (*Store)(nil)
	_ driver.Reopener  = (*Store)(nil)
	_ driver.Local     = (*Store)(nil)
)

// hooks let tests replace and watch the system.
type hooks struct {
	filesystem func(path string) (filesystem, error)
	here       func(path string) (place, error)
	sync       func(*os.File) error
	note       func(step, path, to string) // is called after each step of a write
}

func (h *hooks) did(step, path, to string) {
	if h.note != nil {
		h.note(step, path, to)
	}
}

// ErrNoStore reports that a directory has no store, or does not exist. See [NoCreate].
var ErrNoStore = errors.New("there is no store")

// An Option changes how [Open] opens a store.
type Option uint8

// NoCreate opens only an existing store: some process has created a pool in the directory before.
// Otherwise the error is [ErrNoStore], and Open makes nothing. And a lease creates no pool in the
// store unless lease.Config.Create is set: a missing pool is lease.ErrNoPool.
//
// Use NoCreate in every deployment. A lost, unmounted or mistyped directory would otherwise become
// a new store, and hand out workers of other processes. Create the pool once, by firn pool create
// or by a first start without NoCreate.
const NoCreate Option = 1

// Open returns the store in a directory. If there is no directory, Open makes it, unless the option
// [NoCreate] is given. A relative directory is resolved once, by Open: a later change of the working
// directory changes nothing. Name an absolute directory where programs share it, because each
// working directory has another store below.
//
// An address such as file:///var/lib/firn is not a directory: the error is [driver.ErrAddress]. lease.OpenStore
// opens the store of an address. Text that [driver.IsAddress] takes for an address, and a directory that
// [driver.CheckPath] refuses, are the same error.
//
// The error is [driver.ErrUnsafe] if leases would not be safe in the directory, for example because the system
// is not supported or because several machines share the filesystem. It is also [driver.ErrCopied] if the directory is
// a copy of another store's directory. [Store.Inspect] reports what the directory can lose.
func Open(dir string, options ...Option) (*Store, error) {
	return open(dir, false, system, options...)
}

// OpenCopy is Open, but accepts a copy. Use it for a restored backup, and for a copy whose original
// is gone for good. Call [Store.Adopt], so that Open accepts the directory, and then recover all pools of
// the store (lease.RecoverPool, with Adopt). Until it is recovered, a pool is refused as a copy.
func OpenCopy(dir string) (*Store, error) { return open(dir, true, system) }

var system = hooks{filesystem: statfs, here: here, sync: (*os.File).Sync}

// open is cheap, since it makes nothing durable. The first write does: before the write, the store
// has nothing to lose. copied accepts a copy.
func open(dir string, copied bool, h hooks, options ...Option) (*Store, error) {
	if driver.IsAddress(dir) {
		return nil, addressError(dir)
	}
	if err := driver.CheckPath(filepath.ToSlash(dir)); err != nil {
		return nil, driver.OpenError("file", err, driver.RemedyAddress)
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		path = dir
	}
	s := &Store{dir: path, path: path, noCreate: slices.Contains(options, NoCreate), hooks: h, known: make(map[string]bool)}
	s.Handle = driver.New(driver.Backend{
		Address: (&url.URL{Scheme: "file", Path: urlPath(path)}).String(),
		Get:     s.get, List: s.list, Put: s.put, Diagnose: diagnose,
	})
	if dir == "" {
		return nil, driver.OpenError(s.String(), errors.New("no directory is given"), driver.RemedyStore)
	}
	if err != nil {
		return nil, driver.OpenError(s.String(), err, driver.RemedyAddress)
	}
	if err := driver.Do(context.Background(), s.Handle, "open", func(context.Context) error { return s.check(copied) }); err != nil {
		return nil, err
	}
	return s, nil
}

// check makes the directory if allowed, and returns an error unless leases are safe there.
func (s *Store) check(copied bool) (err error) {
	if !supported {
		return newError("", "%w: files are not supported on %s", driver.ErrUnsafe, runtime.GOOS)
	}
	if s.root, err = stat(s.dir); errors.Is(err, fs.ErrNotExist) {
		if s.noCreate {
			return s.noStore("does not exist")
		}
		switch err = makeAll(s.dir); {
		case err == nil:
			s.root, err = stat(s.dir)
		case !full(err): // so there is no store of another process either
			if link := deadLink(s.dir); link != "" {
				return newError(driver.RemedyAddress, "%w: the symbolic link %s leads to nothing, or to a filesystem that is not mounted", driver.ErrUnavailable, link)
			}
			return newError(driver.RemedyAddress, "%w: no directory can be made there: %w", driver.ErrUnavailable, err)
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
	if !copied {
		if err := s.checkPlace(); err != nil {
			return err
		}
	}
	if resolved, err := filepath.EvalSymlinks(s.dir); err == nil {
		s.path = resolved
	}
	mounts := readMounts()
	s.place = inFilesystem(mounts, s.path)
	s.inspect(on, mounts)
	return nil
}

// deadLink returns the symbolic link in a path whose target does not exist, or "".
func deadLink(path string) string {
	for ; path != filepath.Dir(path); path = filepath.Dir(path) {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return path
		}
		return ""
	}
	return ""
}

// inspect notes what the directory can lose.
func (s *Store) inspect(on filesystem, mounts string) {
	if on.loses == "" && passingMount(mounts, s.path) {
		on.name, on.loses, on.advice = "a volume that is removed with a container or a pod", layered, useVolume
	}
	if on.loses != "" {
		s.find(driver.Finding{Loses: true, Text: fmt.Sprintf("%s is on %s, whose %s", s.dir, on.name, on.loses), Advice: on.advice, Remedy: driver.RemedyMove})
	}
	if openToAll(s.root) {
		s.find(driver.Finding{Loses: true, Text: s.dir + " can be written by every user, and every user can take its entries away",
			Advice: "chmod -R o-w " + shell.Word(s.dir)})
	}
}

// find notes a finding, once.
func (s *Store) find(f driver.Finding) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.findings, f) {
		s.findings = append(s.findings, f)
	}
}

// Inspect reports how the store can lose acknowledged changes, the worst first.
func (s *Store) Inspect(context.Context) (found []driver.Finding, err error) {
	if id, unread := s.readPlace(); unread == nil {
		// A resource of the store's own shows whether claims work, and which locks hide claims.
		var release func()
		if release, err = s.Exclude("inspect "+id.Store, "inspect"); release != nil {
			release()
		}
		if errors.Is(err, driver.ErrConflict) {
			err = nil // a copy of the store, which is looked at too
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.findings), err
}

// Reopen opens the directory again after a failed fsync. It makes nothing: the directory must be the one that was
// opened.
func (s *Store) Reopen(context.Context) (driver.Store, error) {
	if err := s.checkRoot(); err != nil {
		return nil, driver.OpenError(s.String(), err, "")
	}
	var options []Option
	if s.noCreate {
		options = append(options, NoCreate)
	}
	again, err := open(s.dir, false, s.hooks, options...)
	if err != nil {
		return nil, err
	}
	return again, nil
}

// Local reports whether a lease may create a missing pool: all processes with the pools run on this
// machine. A lease may, unless the store was opened with [NoCreate].
func (s *Store) Local() bool { return !s.noCreate }

// get returns the entry of a key.
//
// get takes no lock. The name leads to one version of the entry and, from the moment of the rename,
// to the next version. The content of a version does not change: get returns the entry as of the
// opening of the file. The version may not be on the disk yet. If the power fails then, the version
// is lost together with every process that saw it. A caller that must know whether a change is
// durable waits for the Put.
func (s *Store) get(_ context.Context, key string) (driver.Entry, error) {
	f, e, err := s.read(key, false)
	if f != nil {
		f.Close()
	}
	return e.Entry, err
}

// Confirm returns the entry of a key now. All processes of the directory are on one machine and share
// the kernel's view of a local filesystem: the name leads to the last version. A filesystem that was
// mounted on the entry's folder meanwhile, such as NFS, is refused.
func (s *Store) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return driver.Confirm(ctx, s.Handle, key, func(ctx context.Context, key string) (driver.Entry, error) {
		if _, err := s.checkFilesystem(filepath.Dir(s.file(key))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return driver.Entry{}, err
		}
		return s.get(ctx, key)
	})
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

// walk adds the entries below a folder, and returns the first error that belongs to no entry.
func (s *Store) walk(ctx context.Context, folder, prefix string, entries *[]driver.Entry) error {
	found, err := s.names(folder)
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
			f, e, err := s.read(key, true)
			if f != nil {
				f.Close()
			}
			if !errors.Is(err, driver.ErrNotFound) {
				e.Key, e.Err = key, err
				*entries = append(*entries, e.Entry)
			}
		case found[file].IsDir():
			err = s.walk(ctx, key, prefix, entries)
		case found[file]&fs.ModeSymlink != 0, irregular(found[file]):
			err = s.checkWay(s.folder(key), nil)
		}
		first = cmp.Or(first, err)
	}
	return first
}

// names returns the names in a folder, in the form of keys, and the types of the files.
//
// It reads the folder until a reading brings no new name. A rename during a reading removes an
// entry of the folder and adds another: a system may leave the name out.
func (s *Store) names(folder string) (map[string]fs.FileMode, error) {
	path := s.folder(folder)
	found := make(map[string]fs.FileMode)
	for readings, fresh := 0, true; fresh || readings < 2; readings++ {
		d, err := openToRead(path)
		if elsewhere := s.checkWay(path, d); elsewhere != nil {
			d.Close()
			return nil, elsewhere
		}
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
			if name, ok := unescapeName(e.Name()); ok && !strings.HasPrefix(name, tempPrefix) {
				found[name] = e.Type()
			}
		}
		fresh = len(found) > before
	}
	return found, nil
}

// read opens and reads the file of an entry. For a damaged entry that can be replaced, read returns
// the file and the entry's revision with the error. If closesEarly is set, the file is closed.
// If the caller has checked the way to the folder, only the file is checked.
func (s *Store) read(key string, checked bool) (*os.File, entry, error) {
	f, err := s.openEntry(key)
	opened := err == nil
	var e entry
	if opened {
		e, err = readFile(key, f)
		if closesEarly {
			f.Close()
		}
	}
	folder := filepath.Dir(s.file(key))
	if checked {
		folder = s.dir
	}
	if moved := cmp.Or(s.checkRoot(), s.checkWay(folder, f)); moved != nil { // then the file is another store's
		if opened {
			f.Close()
		}
		return nil, entry{}, moved
	}
	switch {
	case !opened && errors.Is(err, fs.ErrNotExist):
		e.Place, _ = s.identity()
		return nil, e, driver.ErrNotFound
	case !opened:
		return nil, entry{}, err
	case err != nil && e.Revision == driver.None:
		f.Close()
		return nil, entry{}, err
	}
	e.Place, _ = s.identity() // a lease refuses the pool if it isn't known
	return f, e, err
}

// checkWay returns an error unless a folder, and the open file f in it, are on the mount of the
// store's directory, and behind no symbolic link. A container can have the directory without the
// mounts in it, or other targets of its links, and would find other entries there. f may be nil.
func (s *Store) checkWay(folder string, f *os.File) error {
	root := mountNumber(s.dir, nil)
	elsewhere := func(path string, f *os.File) bool {
		number := mountNumber(path, f)
		return number != 0 && number != root
	}
	known := f != nil && !elsewhere("", f) // so no mount is on the way to f
	at, wrong := folder, ""
	if f != nil && !known {
		at, wrong = f.Name(), "file "+f.Name()
	}
	for ; at != s.dir; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		switch {
		case err != nil: // the opening has failed too
		case info.Mode()&fs.ModeSymlink != 0:
			return newError("", "%w: %s is a symbolic link", driver.ErrUnsafe, at)
		case info.IsDir() && (device(info) != device(s.root) || !known && elsewhere(at, nil)), irregular(info.Mode()):
			wrong = "folder " + at
		}
	}
	if wrong == "" {
		return nil
	}
	return newError("", "%w: the %s is a mount of its own", driver.ErrUnsafe, wrong)
}

// irregular reports whether a mode is that of a junction or of a folder with a volume mounted on it, on Windows.
func irregular(mode fs.FileMode) bool { return mode&(fs.ModeDir|fs.ModeIrregular) == fs.ModeIrregular }

func readFile(key string, f *os.File) (entry, error) {
	info, err := f.Stat()
	if err != nil {
		return entry{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return entry{}, newError("", "%w: a symbolic link is in the place of an entry: %s", driver.ErrUnsafe, f.Name())
	}
	if !info.Mode().IsRegular() {
		return entry{}, notRegular(f.Name())
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

// file returns the path of an entry's file. folder returns the path of the folder of a prefix of
// keys.
func (s *Store) file(key string) string    { return s.folder(key) + suffix }
func (s *Store) folder(name string) string { return filepath.Join(s.dir, escape(name)) }

package filelease

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

const (
	placeFile = ".place" // the file with the place of its directory. No key has the name

	placeVersion = 2
)

// A place is the identity of a store, with the marks that distinguish the store's directory from
// copies. Fields unknown to the system are zero and are not compared.
//
// The place is durable before the first entry is. A directory with entries and without a place is
// therefore a copy of a part of a store's directory.
type place struct {
	Version int    `json:"v"`
	Store   string `json:"store"` // random: the same in all copies
	Inode   uint64 `json:"inode"`
	Born    int64  `json:"born_ns,omitempty"` // when the directory was made
	Volume  string `json:"volume,omitempty"`  // the subvolume of Btrfs, where snapshots keep inodes and births
	Machine string `json:"machine,omitempty"` // a hash of the machine's ID
}

// differs returns the difference between the original place of a directory and the present place, or "".
func (p place) differs(now place) string {
	switch {
	case p.Machine != "" && now.Machine != "" && p.Machine != now.Machine:
		return "it was made on another machine, or where /etc/machine-id is another"
	case p.Inode != now.Inode, p.Born != 0 && now.Born != 0 && p.Born != now.Born:
		return "it was made as another directory"
	case p.Volume != "" && now.Volume != "" && p.Volume != now.Volume:
		return "it was made in another subvolume"
	}
	return ""
}

// here returns the place of a directory, without an identity.
func here(path string) (place, error) {
	info, err := os.Stat(path)
	if err != nil {
		return place{}, err
	}
	p := place{Version: placeVersion, Inode: inode(path, info), Born: born(path), Volume: subvolume(path)}
	// Containers with a shared volume have separate machine IDs, or those of the images.
	if id := machineID(); id != "" && onMachine() == nil {
		sum := sha256.Sum256([]byte("firn " + id))
		p.Machine = hex.EncodeToString(sum[:8])
	}
	return p, nil
}

// checkPlace returns an error if the directory is a copy.
func (s *Store) checkPlace() error {
	made, err := s.readPlace()
	if errors.Is(err, fs.ErrNotExist) {
		switch entries, err := s.hasEntries(); {
		case err != nil:
			return err
		case !entries && s.noCreate:
			return s.noStore("has none")
		case !entries:
			return nil
		}
		// Another process may have made the place and the entries meanwhile.
		if made, err = s.readPlace(); errors.Is(err, fs.ErrNotExist) {
			return s.noPlace()
		}
	}
	if err != nil {
		return err
	}
	s.id = made.Store
	now, err := s.hooks.here(s.dir)
	if err != nil {
		return err
	}
	if why := made.differs(now); why != "" {
		return newError(driver.RemedyCopy, "%w: %w: %s", driver.ErrUnsafe, driver.ErrCopied, why)
	}
	return nil
}

// readPlace returns the place in the directory's file. The error is fs.ErrNotExist if there is no
// file.
func (s *Store) readPlace() (made place, err error) {
	path := filepath.Join(s.dir, placeFile)
	content, err := readAll(path)
	if err != nil {
		return place{}, err
	}
	err = json.Unmarshal(content, &made)
	switch {
	case err == nil && made.Version == 1:
		return place{}, newError(driver.RemedyMove, "%w: %s is of form 1, from before the first release", driver.ErrVersion, path)
	case err == nil && made.Version > placeVersion:
		return place{}, newError("", "%w: %s", driver.ErrVersion, path)
	case err != nil || made.Version < 1 || made.Store == "":
		return place{}, newError(driver.RemedyCopy, "%w: %s does not say where the directory was made", driver.ErrDamaged, path)
	}
	return made, nil
}

// readAll returns the content of a file.
func readAll(path string) ([]byte, error) {
	f, err := openToRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// hasEntries reports whether the directory has an entry of a pool. Other files and folders may be
// there, but not another store: its users would not see this one.
func (s *Store) hasEntries() (found bool, err error) {
	const depth = 2 // of the key NAME/workers/NUMBER, the deepest of a pool
	inner := ""     // another store
	var look func(folder string, depth int) error
	look = func(folder string, depth int) error {
		files, err := s.names(folder)
		if errors.Is(err, fs.ErrNotExist) || folder != "" && (errors.Is(err, fs.ErrPermission) || errors.Is(err, driver.ErrUnsafe)) {
			return nil // removed meanwhile, or not this store's
		}
		for file, mode := range files {
			name, isEntry := strings.CutSuffix(file, suffix)
			switch {
			case err != nil || found:
				return err
			case folder == "" && mode.IsDir() && exists(filepath.Join(s.folder(file), placeFile)):
				inner = s.folder(file)
			case driver.CheckKey(name) != nil:
			case isEntry:
				found = true
			case mode.IsDir() && depth > 0:
				err = look(path.Join(folder, name), depth-1)
			}
		}
		return err
	}
	err = look("", depth)
	if err == nil && !found && inner != "" {
		err = newError(driver.RemedyAddress, "%w: the directory contains another store, %s", driver.ErrUnsafe, inner)
	}
	return found, err
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// mark writes the place of the directory, with a new identity, unless there is one. A directory
// with entries gets no identity: the entries are a copy.
func (s *Store) mark() error {
	path := filepath.Join(s.dir, placeFile)
	if exists(path) {
		return nil
	}
	switch entries, err := s.hasEntries(); {
	case err != nil:
		return err
	case entries:
		if !exists(path) { // another process has not made both meanwhile
			return s.noPlace()
		}
		return nil
	}
	return s.writePlace(path, link)
}

// noPlace returns the error for a directory with entries and without a place.
func (s *Store) noPlace() error {
	return newError(driver.RemedyCopy, "%w: %w: it has entries, and no file %s", driver.ErrUnsafe, driver.ErrCopied, placeFile)
}

// identity returns the store's identity. If the store has no identity yet, identity makes one.
func (s *Store) identity() (string, error) {
	s.mu.Lock()
	id := s.id
	s.mu.Unlock()
	if id != "" {
		return id, nil
	}
	made, err := s.readPlace()
	if errors.Is(err, fs.ErrNotExist) {
		if err = s.mark(); err == nil {
			made, err = s.readPlace()
		}
	}
	s.mu.Lock()
	s.id = made.Store
	s.mu.Unlock()
	return made.Store, err
}

// Adopt makes the directory the store's own, with a new identity: Open no longer refuses the
// directory as a copy. Leases refuse its pools until they are recovered, see [OpenCopy].
func (s *Store) Adopt() error {
	return driver.Do(context.Background(), s.Handle, "adopt", func(context.Context) error {
		s.mu.Lock()
		s.id = ""
		s.mu.Unlock()
		return s.writePlace(filepath.Join(s.dir, placeFile), rename)
	})
}

// writePlace writes the present place of the directory into a file, with a new identity, and gives
// the file its name.
func (s *Store) writePlace(path string, name func(from, to string) error) error {
	now, err := s.hooks.here(s.dir)
	if err != nil {
		return err
	}
	now.Store = rand.Text()
	content, err := json.Marshal(now)
	if err != nil {
		panic(err) // every place can be encoded
	}
	temp := tempIn(s.dir)
	if err := s.writeTemp(temp, append(content, '\n')); err != nil {
		return err
	}
	defer os.Remove(temp)
	err = name(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // another process was quicker
		return err
	}
	s.hooks.did("link", temp, path)
	return nil
}

package filelease

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firn-id/firn/lease/driver"
)

// ErrCopied reports that a directory is a copy of a store's directory: part of an image, a restored
// backup, or a directory of another machine. The pools of a copy give out the same intervals as the
// pools of the original.
var ErrCopied = errors.New("the directory is a copy of another store")

// placeFile is the file with the place of its directory. No key has the name.
const placeFile = ".place"

// A place distinguishes a store's directory from its copies. Fields that the system does not know
// are zero and are not compared.
type place struct {
	Version int    `json:"v"`
	Inode   uint64 `json:"inode"`
	Born    int64  `json:"born_ns,omitempty"` // when the directory was made
	Machine string `json:"machine,omitempty"` // a hash of the machine's ID
}

// differs returns the difference between the place where a directory was made and its present
// place, or "".
func (p place) differs(now place) string {
	switch {
	case p.Machine != "" && now.Machine != "" && p.Machine != now.Machine:
		return "it was made on another machine"
	case p.Inode != now.Inode, p.Born != 0 && now.Born != 0 && p.Born != now.Born:
		return "it was made as another directory"
	}
	return ""
}

// here returns the place of a directory.
func here(path string) (place, error) {
	info, err := os.Stat(path)
	if err != nil {
		return place{}, err
	}
	p := place{Version: 1, Inode: inode(path, info), Born: born(path)}
	// Containers that share a volume have machine IDs of their own, or of their images.
	if id := machineID(); id != "" && !inContainer() {
		sum := sha256.Sum256([]byte("firn " + id))
		p.Machine = hex.EncodeToString(sum[:8])
	}
	return p, nil
}

// checkPlace returns an error if the directory is a copy.
func (s *Store) checkPlace() error {
	path := filepath.Join(s.dir, placeFile)
	f, err := openToRead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was ever put
	}
	if err != nil {
		return err
	}
	defer f.Close()
	content, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	var made place
	if err := json.Unmarshal(content, &made); err != nil || made.Version < 1 {
		return newError("stop all processes that use the directory, and rescue all its pools: that writes the file anew (firn pool rescue --all, or OpenCopy, lease.Rescue and Adopt)",
			"%w: %s does not say where the directory was made", driver.ErrDamaged, path)
	}
	if made.Version > 1 {
		return newError("use the version of this program that the others use which share the store", "%w: %s", driver.ErrVersion, path)
	}
	now, err := s.hooks.here(s.dir)
	if err != nil {
		return err
	}
	if why := made.differs(now); why != "" {
		return newError("use the original, which may be in use: share its directory, or use a store that machines share; "+
			"if the original is gone for good, as after a restore, rescue all pools of the copy (firn pool rescue --all, or OpenCopy, lease.Rescue and Adopt)",
			"%w: %w: %s", driver.ErrUnsafe, ErrCopied, why)
	}
	return nil
}

// mark writes the place of the directory before the first entry. A power failure may remove the
// file. A copy is then not recognised, and nothing worse happens, so mark does not sync the folder.
func (s *Store) mark() error {
	path := filepath.Join(s.dir, placeFile)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return s.writePlace(path, link)
}

// Adopt makes the directory the store's own: Open no longer refuses it as a copy. Rescue all pools
// of the copy before, see [OpenCopy].
func (s *Store) Adopt() error {
	return driver.Do(context.Background(), s.Handle, "adopt", func(context.Context) error {
		return s.writePlace(filepath.Join(s.dir, placeFile), rename)
	})
}

// writePlace writes the present place of the directory into a file, and gives the file its name.
func (s *Store) writePlace(path string, name func(from, to string) error) error {
	now, err := s.hooks.here(s.dir)
	if err != nil {
		return err
	}
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
	return nil
}

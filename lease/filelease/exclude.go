package filelease

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/firn-id/firn/lease/driver"
)

// Exclude claims a resource for a group until release is called or the process ends. Members of the
// group share the resource. The error is [driver.ErrConflict] while another group has the resource. A
// group belongs to one directory, whatever the directory's paths are.
//
// On Linux all processes of the kernel see claims, also processes of other users and in containers. A
// claim is of two things:
//
//   - the store's identity. A copy of a directory has the same identity, so the copy and the original
//     exclude each other
//   - the path of the directory, as it was given and without symbolic links, and the directory's place
//     in its filesystem. A directory excludes the directory that took its place, also if containers
//     have other paths for it
//
// Every user can lock an object visible to all users. While another program's lock hides the
// claims, or the system refuses the locks, the store has a finding: the promises of a directory do
// not depend on claims. On Windows all users see claims. On other systems Exclude claims nothing.
func (s *Store) Exclude(resource, group string) (release func(), err error) {
	id, err := s.identity()
	if err != nil {
		return nil, s.excludeFails(err)
	}
	dir, err := s.openDir()
	if err != nil {
		return nil, s.excludeFails(err)
	}
	// 31 bits identify the resource, and 32 bits the group. Two resources with the same bits
	// exclude each other's groups. The price is a worker, not an ID.
	region := func(what string) int64 { return int64(shorten(what+"\x00"+resource)>>1) << 32 }
	regions := []int64{region("store " + id)}
	for _, path := range slices.Compact([]string{s.dir, s.path}) {
		regions = append(regions, region("path "+rootDirectory()+" "+path))
	}
	if s.place != "" {
		regions = append(regions, region("place "+s.place))
	}
	group = fmt.Sprintf("%s %d %d", group, device(s.root), inode(s.dir, s.root))
	drop, found, err := claim(int64(shorten(group)), regions)
	release = func() {
		if drop != nil {
			drop()
		}
		dir.Close()
	}
	switch {
	case err == errors.ErrUnsupported: // of claim, not an error of the kernel such as ENOSYS
		return release, nil
	case err != nil:
		s.find(driver.Finding{Text: "a copy of this store that is in use would not be noticed: " + err.Error()})
		return release, nil // and the claims that could be made, which other stores see
	}
	for _, other := range found {
		switch {
		case other == nil:
		case other.foreign():
			s.find(driver.Finding{Text: "a copy of this store that is in use would not be noticed, because a lock hides it: " + other.holder(),
				Advice: "end that process"})
		default:
			release()
			return nil, s.excludeError("", "%s: %w", resource, &driver.ExcludedError{Holder: other.holder})
		}
	}
	return release, nil
}

// openDir opens the store's directory. While the directory is open, no other directory gets the
// device and inode, and the filesystem stays mounted: a group belongs to one directory.
func (s *Store) openDir() (*os.File, error) {
	dir, err := openToRead(s.dir)
	if err != nil {
		return nil, err
	}
	if info, err := dir.Stat(); err != nil || !os.SameFile(info, s.root) {
		dir.Close()
		return nil, cmp.Or(err, s.checkRoot(), fmt.Errorf("%w: %s was replaced", driver.ErrUnavailable, s.dir))
	}
	return dir, nil
}

// excludeError returns an error with the fields that the handle sets for calls. Exclude takes no
// context: it is not a call of the handle.
func (s *Store) excludeError(remedy driver.Remedy, format string, args ...any) error {
	return &driver.Error{Store: s.String(), Op: "exclude", Err: fmt.Errorf(format, args...), Remedy: remedy}
}

// excludeFails is excludeError for an error of the directory, with the remedy of the error.
func (s *Store) excludeFails(err error) error {
	if known, ok := errors.AsType[*driver.Error](err); ok {
		return s.excludeError(known.Remedy, "%w", known.Err)
	}
	remedy, kind := diagnose(err)
	return s.excludeError(remedy, "%w: %w", kind, renamed(filepath.Join(s.dir, placeFile), err))
}

func shorten(name string) uint32 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint32(sum[:])
}

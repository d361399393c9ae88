package filelease

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
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
// claim is of three things:
//
//   - the store's identity. A copy of a directory has the same identity, so the copy and the original
//     exclude each other
//   - the path of the directory, as it was given and without symbolic links, and the directory's place
//     in its filesystem. A directory excludes the directory that took its place, also if containers
//     have other paths for it
//   - the machine. A default store does not get a resource that any other store has. A store that a
//     program names does, with a finding (see Inspect): Exclude returns both release and the error, and
//     a lease prefers other workers
//
// Every user can lock an object visible to all users. While another program's lock hides the
// claims, or the system refuses the locks, a default store gives an error, and other stores have a
// finding: the promises of a named directory do not depend on claims. On Windows all users see
// claims, and a claim that meets another store's claim of the machine is not seen itself. On other
// systems Exclude claims nothing, and Inspect reports for a default store that users do not see each
// other.
func (s *Store) Exclude(resource, group string) (release func(), err error) {
	id, err := s.identity()
	if err != nil {
		return nil, s.excludeFails(err)
	}
	strict, err := s.isDefault()
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
	regions = append(regions, region("machine"))
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
	case err != nil && strict:
		release()
		return nil, s.excludeError(driver.RemedyStore, "%w: other stores of the machine cannot be seen: %w", driver.ErrUnavailable, err)
	case err != nil:
		s.find(driver.Finding{Text: "a copy of this store that is in use would not be noticed: " + err.Error()})
		return release, nil // and the claims that could be made, which other stores see
	}
	for i, other := range found {
		switch ofMachine := i == len(found)-1; {
		case other == nil:
		case other.foreign() && strict:
			release()
			return nil, s.excludeError(driver.RemedyStore, "%w: a lock that is not a claim hides other stores of the machine: %s",
				driver.ErrUnavailable, other.holder())
		case other.foreign():
			s.find(driver.Finding{Text: "a copy of this store that is in use would not be noticed, because a lock hides it: " + other.holder(),
				Advice: "end that process"})
		case strict || !ofMachine:
			release()
			return nil, s.excludeError("", "%s: %w", resource, &driver.ExcludedError{Holder: other.holder})
		default:
			s.find(driver.Finding{Text: "another store of this machine uses the same workers for IDs of the same kind",
				Advice: "if the IDs of both stores have to differ, let both use one directory"})
			err = s.excludeError("", "%s: %w", resource, &driver.ExcludedError{Holder: other.holder})
		}
	}
	return release, err
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

// isDefault reports whether the directory is a default directory: OpenDefault would open it for this
// user, or has ever opened it.
func (s *Store) isDefault() (bool, error) {
	file := filepath.Join(s.dir, forAll)
	if _, err := os.Lstat(file); err == nil {
		return true, nil
	}
	if mine, err := defaultDir(); !s.byDefault && (err != nil || mine != s.dir) {
		return false, nil
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return true, nil // another process was quicker
	}
	if err != nil {
		return true, err
	}
	err = s.share(f, true)
	return true, errors.Join(err, f.Close())
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

package filelease

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/firn-id/firn/lease/driver"
)

// Exclude claims a resource for a group until release is called or the process ends. Members of the
// group share the resource. The error is [driver.ErrConflict] while another group has the resource.
//
// In a store of [OpenDefault], the groups of all users of the machine exclude each other: each user
// has a default store. In other stores, groups exclude each other if their stores were opened at
// the same path. A group belongs to one directory: a directory that was deleted and made again has
// another group, and so has a copy.
//
// Containers have roots of their own and do not see each other. On systems other than Linux, users
// do not see each other either; Inspect reports this for a default store.
func (s *Store) Exclude(resource, group string) (release func(), err error) {
	scope := ""
	if !s.byDefault {
		scope = s.path
	}
	group = fmt.Sprintf("%s %d %d", group, device(s.root), inode(s.dir, s.root))
	// 31 bits identify the resource, and 32 bits the group. Two resources with the same bits
	// exclude each other's groups. The price is a worker, not an ID.
	region := int64(shorten(scope+"\x00"+resource)>>1) << 32
	release, err = claim(region, int64(shorten(group)))
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return func() {}, nil
	case err == driver.ErrConflict:
		return nil, s.excludeError("", "%w: %s is in use by another store's processes on this machine", err, resource)
	case err != nil && s.byDefault:
		return nil, s.excludeError(nameDirectory, "%w: other users of the machine cannot be seen: %w", driver.ErrUnavailable, err)
	case err != nil:
		return func() {}, nil // the promises of the directory do not depend on Exclude
	}
	return release, nil
}

// excludeError returns an error with the fields that the handle sets for its calls. Exclude takes
// no context, and so is no call of the handle.
func (s *Store) excludeError(advice, format string, args ...any) error {
	return &driver.Error{Store: s.String(), Op: "exclude", Err: fmt.Errorf(format, args...), Advice: advice}
}

func shorten(name string) uint32 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint32(sum[:])
}

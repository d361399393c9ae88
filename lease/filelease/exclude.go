package filelease

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/firn-id/firn/lease/driver"
)

// Exclude claims a resource for a group until release is called or the process ends. Members of
// the group share the resource; the error is [driver.ErrConflict] while another group has it.
//
// Groups of all users of the machine exclude each other in a store that [OpenDefault] returned:
// each user has such a store. In another store the groups that were opened at the same path do: a
// directory that is deleted and made again is another group's. A group is of one directory, so
// the pools of a directory and of its copy are two groups.
//
// Containers, which have roots of their own, do not see each other. On systems other than Linux,
// nor do users; Inspect says so of a default store.
func (s *Store) Exclude(resource, group string) (release func(), err error) {
	scope := ""
	if !s.byDefault {
		scope = s.path
	}
	group = fmt.Sprintf("%s %d %d", group, device(s.root), inode(s.root))
	// 31 bits say which resource, and 32 bits which group. Two resources that share their bits
	// exclude each other's groups, which costs a worker and no ID.
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
		return func() {}, nil // the directory's own promise holds without
	}
	return release, nil
}

// excludeError makes what the handle makes of other errors: Exclude takes no context, and so is no call of the handle.
func (s *Store) excludeError(advice, format string, args ...any) error {
	return &driver.Error{Store: s.String(), Op: "exclude", Err: fmt.Errorf(format, args...), Advice: advice}
}

func shorten(name string) uint32 {
	sum := sha256.Sum256([]byte(name))
	return binary.BigEndian.Uint32(sum[:])
}

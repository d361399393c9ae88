package filelease

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

func init() { driver.Register("file", openAddress) }

// openAddress opens an existing store. The store of an address is made before a program gets the
// address, as with stores of every other kind.
func openAddress(_ context.Context, addr string) (*Store, error) {
	dir, err := settle(addr)
	if err != nil {
		return nil, err
	}
	return Open(dir, NoCreate)
}

// settle returns the directory of an address. openAddress and [Permissions] read addresses here alone.
func settle(addr string) (dir string, err error) {
	if dir, err = ParseAddress(addr); err != nil {
		err = driver.OpenError("file", err, "")
	}
	return dir, err
}

// ParseAddress returns the directory of an address file:///DIRECTORY, or of an absolute path. The
// errors are [driver.ErrAddress]. lease.OpenStore opens such an address as Open does with the option
// [NoCreate].
func ParseAddress(addr string) (dir string, err error) {
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("%w of the kind file://: %s", driver.ErrAddress, why)
	}
	scheme, rest, err := driver.SplitAddress(addr)
	if err != nil {
		return "", err
	}
	path, err := url.PathUnescape(rest)
	switch {
	case scheme != "file":
		return bad("want file://, as in file:///var/lib/firn")
	case strings.Contains(rest, "?"):
		return bad("it has no settings: write %3F for a ? that belongs to the directory")
	case strings.Contains(rest, "#"):
		return bad("it has a fragment (#…): write %23 for a # that belongs to the directory")
	case err != nil:
		return bad("its path has a % that begins no escape")
	case len(path) < 2 || path[0] != '/':
		return bad("want an absolute path after it, as in file:///var/lib/firn")
	}
	if err := driver.CheckPath(path); err != nil {
		return "", err
	}
	return directory(path[1:]), nil
}

// directory returns the directory of an address with the path /path.
func directory(path string) string {
	if dir := filepath.FromSlash(path); filepath.IsAbs(dir) && filepath.VolumeName(dir) != "" { // file:///C:/firn
		return dir
	}
	return filepath.FromSlash("/" + path)
}

//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// TestCopied: a copy of a directory is refused until somebody adopts the copy. A moved directory is
// not a copy.
func TestCopied(t *testing.T) {
	base := t.TempDir()
	dir, moved, copied := filepath.Join(base, "dir"), filepath.Join(base, "moved"), filepath.Join(base, "copied")
	rev := mustPut(t, mustOpen(t, dir, plain), "a/b", "one", driver.None)
	testkit.OK(t, os.Rename(dir, moved))
	mustPut(t, mustOpen(t, moved, plain), "a/b", "two", rev)
	if runtime.GOOS == "windows" { // which has no cp
		testkit.OK(t, os.CopyFS(copied, os.DirFS(moved)))
	} else if out, err := exec.Command("cp", "-Rp", moved, copied).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantError(t, testkit.Err(Open(copied)), driver.ErrUnsafe, driver.ErrCopied)
	testkit.OK(t, testkit.Err(OpenCopy(moved)))
	s := testkit.Must(OpenCopy(copied))
	wantEntry(t, s, "a/b", "two")
	mustPut(t, s, "c", "new", driver.None) // makes no original of it
	testkit.Is(t, testkit.Err(Open(copied)), driver.ErrCopied, "before Adopt")
	testkit.OK(t, s.Adopt())
	wantEntry(t, mustOpen(t, copied, plain), "a/b", "two")
	wantEntry(t, mustOpen(t, moved, plain), "a/b", "two")
	wantNoTemp(t, copied)
}

func TestPlaces(t *testing.T) {
	made := place{Version: placeVersion, Inode: 7, Born: 100, Volume: "v", Machine: "m"}
	at := func(inode uint64, born int64, volume, machine string) place {
		return place{Version: placeVersion, Inode: inode, Born: born, Volume: volume, Machine: machine}
	}
	for _, c := range []struct {
		what string
		now  place
		copy bool
	}{
		{"the same", made, false},
		{"another inode", at(8, 100, "v", "m"), true},
		{"an inode that was used again", at(7, 101, "v", "m"), true},
		{"another subvolume", at(7, 100, "w", "m"), true},
		{"another machine", at(7, 100, "v", "n"), true},
		{"a container, or a system that does not know", at(7, 0, "", ""), false},
	} {
		dir := t.TempDir()
		h := plain
		h.here = func(string) (place, error) { return made, nil }
		mustPut(t, mustOpen(t, dir, h), "a", "", driver.None)
		h.here = func(string) (place, error) { return c.now, nil }
		if _, err := open(dir, false, h); errors.Is(err, driver.ErrCopied) != c.copy || err != nil && !c.copy {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// TestPlaceDamaged: the store cannot know whether the directory is a copy.
func TestPlaceDamaged(t *testing.T) {
	dir := t.TempDir()
	mustPut(t, mustOpen(t, dir, plain), "a", "", driver.None)
	for content, want := range map[string]error{"": driver.ErrDamaged, "{": driver.ErrDamaged, "{}": driver.ErrDamaged, `{"v":2}`: driver.ErrDamaged,
		`{"v":1,"inode":7}`: driver.ErrVersion, `{"v":3}`: driver.ErrVersion} {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, placeFile), []byte(content), 0o600))
		wantError(t, testkit.Err(Open(dir)), want)
	}
	s := testkit.Must(OpenCopy(dir))
	testkit.OK(t, s.Adopt())
	mustOpen(t, dir, plain)
}

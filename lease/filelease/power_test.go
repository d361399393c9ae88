//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// A step is a system call of a Put, or "done" at the end of a Put.
type step struct{ op, path, to string }

// traced opens a store in a directory whose parent does not exist either, creates and changes an
// entry, and returns the steps.
func traced(t *testing.T, base string) (steps []step, key string) {
	t.Helper()
	h := plain
	dir := filepath.Join(base, "x", "y")
	h.note = func(op, path, to string) {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) && filepath.Dir(path) == dir {
			return // of the file that says where the directory was made, on which no entry depends
		}
		// Paths with "/..": there are no symbolic links in them.
		if path = filepath.Clean(path); op != "open" && strings.HasPrefix(path, base) {
			steps = append(steps, step{op, path, to})
		}
	}
	steps = []step{{op: "mkdir", path: filepath.Dir(dir)}, {op: "mkdir", path: dir}} // Open does not say
	s := mustOpen(t, dir, h)
	rev := mustPut(t, s, "a/b/c", "one", driver.None)
	steps = append(steps, step{op: "done"})
	mustPut(t, s, "a/b/c", "two", rev)
	return append(steps, step{op: "done"}), s.file("a/b/c")
}

// afterPowerLoss returns what is wrong with an entry if the power fails at the worst moment. The
// disk is the most unkind of the disks that a system allows. A file without a sync is unreadable. A folder
// without a sync has any of its changes, and lacks any others.
func afterPowerLoss(steps []step, base, key string) error {
	type change struct {
		folder string
		apply  func(names map[string]int)
		safe   bool
	}
	var changes []*change
	synced := map[int]bool{} // which versions are
	memory := map[string]int{}
	const folder = -1
	versions, done := 0, 0
	add := func(path string, apply func(map[string]int), safe bool) {
		apply(memory)
		changes = append(changes, &change{filepath.Dir(path), apply, safe})
	}
	for i, s := range steps {
		switch s.op {
		case "mkdir":
			add(s.path, func(n map[string]int) { n[s.path] = folder }, namesAreDurable)
		case "write":
			versions++
			v := versions
			add(s.path, func(n map[string]int) { n[s.path] = v }, namesAreDurable)
		case "link", "rename":
			v := memory[s.path]
			add(s.to, func(n map[string]int) {
				n[s.to] = v
				if s.op == "rename" {
					delete(n, s.path)
				}
			}, namesAreDurable)
		case "remove":
			add(s.path, func(n map[string]int) { delete(n, s.path) }, false)
		case "sync":
			if v := memory[s.path]; v > 0 {
				synced[v] = true
			}
			for _, c := range changes {
				c.safe = c.safe || c.folder == s.path
			}
		case "done":
			done++
		}
		var open []int
		for j, c := range changes {
			if !c.safe {
				open = append(open, j)
			}
		}
		for subset := range 1 << len(open) {
			disk := map[string]int{}
			for j, c := range changes {
				if k := slices.Index(open, j); k < 0 || subset>>k&1 == 1 {
					c.apply(disk)
				}
			}
			v := disk[key]
			for dir := filepath.Dir(key); dir != base; dir = filepath.Dir(dir) {
				if disk[dir] != folder {
					v = 0
				}
			}
			if v > 0 && !synced[v] {
				return fmt.Errorf("after step %d %v: version %d can be damaged", i, s, v)
			}
			if v < done || v > done+1 {
				return fmt.Errorf("after step %d %v: version %d can be there, %d is acknowledged", i, s, v, done)
			}
		}
	}
	return nil
}

// TestPowerLoss checks the order of steps, and that each fsync is needed.
func TestPowerLoss(t *testing.T) {
	base := t.TempDir()
	steps, key := traced(t, base)
	if err := afterPowerLoss(steps, base, key); err != nil {
		t.Errorf("%v\n%v", err, steps)
	}
	syncs := 0
	for i, s := range steps {
		if s.op != "sync" {
			continue
		}
		syncs++
		if namesAreDurable && !strings.HasPrefix(filepath.Base(s.path), tempPrefix) {
			continue // the second fsync of a version, which Windows does not ask for
		}
		without := slices.Delete(slices.Clone(steps), i, i+1)
		err := afterPowerLoss(without, base, key)
		if err == nil {
			t.Errorf("without step %d %v nothing is lost:\n%v", i, s, steps)
		}
		t.Logf("without %v: %v", s, err)
		later := slices.Clone(steps)
		later[i], later[i+1] = later[i+1], later[i]
		if next := later[i]; next.op != "sync" && next.op != "write" && afterPowerLoss(later, base, key) == nil {
			t.Errorf("with %v before %v nothing is lost", next, s)
		}
	}
	want := 8
	if namesAreDurable {
		want = 4
	}
	if syncs != want {
		t.Errorf("%d fsyncs, want one of each of four folders unless names are durable, and two for each version:\n%v", syncs, steps)
	}
}

// TestOtherMadeFolder: a Put syncs a folder that another process has just made, since the other
// process may die before syncing the folder.
func TestOtherMadeFolder(t *testing.T) {
	base := t.TempDir()
	made := []string{filepath.Join(base, "x"), filepath.Join(base, "x", "y"), filepath.Join(base, "x", "y", "a"), filepath.Join(base, "x", "y", "a", "b")}
	testkit.OK(t, os.MkdirAll(made[3], 0o700))
	steps, key := traced(t, base)
	var before []step
	for _, path := range made {
		before = append(before, step{op: "mkdir", path: path})
	}
	if err := afterPowerLoss(append(before, steps[2:]...), base, key); err != nil {
		t.Errorf("%v\n%v", err, steps)
	}
}

// TestSyncFails: after any failed fsync the store refuses all calls. No error has the name of a temporary file in it.
func TestSyncFails(t *testing.T) {
	for fail := 0; ; fail++ {
		dir := t.TempDir()
		if rev := mustPut(t, mustOpen(t, dir, plain), "a/b", "old", driver.None); rev == driver.None {
			t.Fatal()
		}
		n := 0
		h := plain
		h.sync = func(f *os.File) error {
			if n++; n == fail+1 {
				return &os.PathError{Op: "sync", Path: f.Name(), Err: syscall.EIO}
			}
			return nil
		}
		s := mustOpen(t, dir, h)
		e := testkit.Must(s.Get(t.Context(), "a/b"))
		rev, err := s.Put(t.Context(), "a/b", []byte("new"), e.Revision)
		if err == nil {
			_, err = s.Put(t.Context(), "a/c", []byte("new"), driver.None)
		}
		if err == nil {
			least := 5
			if namesAreDurable {
				least = 4
			}
			if fail < least {
				t.Errorf("only %d fsyncs", fail)
			}
			return
		}
		wantError(t, err, driver.ErrUnavailable, syscall.EIO)
		wantNoTemp(t, dir)
		synced := n
		for _, err := range wantRefusal(t, s, "a/b", rev, driver.ErrUnavailable, syscall.EIO) {
			if strings.Contains(err.Error(), tempPrefix) {
				t.Error(err)
			}
		}
		if n != synced {
			t.Error("a failed fsync is tried again")
		}
		e, err = mustOpen(t, dir, plain).Get(t.Context(), "a/b")
		if v := string(e.Value); err != nil || fail == 0 && v != "old" || fail > 0 && v != "new" {
			t.Errorf("fsync %d failed: the entry is %q, %v", fail, v, err)
		}
	}
}

// TestSyncFailsMeanwhile: a Put fails if the fsync of another Put fails while the first waits.
func TestSyncFailsMeanwhile(t *testing.T) {
	var s *Store
	h := plain
	h.note = func(op, _, _ string) {
		if op == "open" {
			s.giveUp(s.dir, syscall.EIO)
		}
	}
	s = mustOpen(t, t.TempDir(), h)
	rev := mustPut(t, s, "a", "one", driver.None)
	wantError(t, testkit.Err(s.Put(t.Context(), "a", []byte("two"), rev)), driver.ErrUnavailable, syscall.EIO)
	wantEntry(t, mustOpen(t, s.dir, plain), "a", "one")
}

// TestSyncFull: a full disk does not end the store as long as only a temporary file is lost. The error names the
// entry's file instead.
func TestSyncFull(t *testing.T) {
	var fail error
	h := plain
	h.sync = func(f *os.File) error {
		if fail == nil {
			return nil
		}
		return &os.PathError{Op: "sync", Path: f.Name(), Err: fail}
	}
	s := mustOpen(t, t.TempDir(), h)
	rev := mustPut(t, s, "a", "one", driver.None)
	fail = syscall.ENOSPC
	_, err := s.Put(t.Context(), "a", []byte("two"), rev)
	wantError(t, err, driver.ErrUnavailable, syscall.ENOSPC)
	if text := err.Error(); strings.Contains(text, tempPrefix) || !strings.Contains(text, s.file("a")) {
		t.Error(text)
	}
	wantNoTemp(t, s.dir)
	fail = nil
	wantEntry(t, s, "a", "one")
	rev = mustPut(t, s, "a", "two", rev)

	h.sync = func(f *os.File) error {
		if !strings.HasPrefix(filepath.Base(f.Name()), tempPrefix) { // a folder, or on Windows an entry
			return syscall.ENOSPC
		}
		return nil
	}
	s = mustOpen(t, s.dir, h)
	for range 2 {
		_, err = s.Put(t.Context(), "a", []byte("three"), rev)
		wantError(t, err, driver.ErrUnavailable, syscall.ENOSPC)
		if errors.Is(err, driver.ErrConflict) {
			t.Error(err)
		}
	}
}

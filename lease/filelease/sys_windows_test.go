package filelease

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

const (
	errNotDir       = errDirectory
	namesAreDurable = true // link and rename return when the new name is on the disk
)

func umask(int) {}

// wasKilled reports whether a process was killed, by TerminateProcess with the exit code 1.
func wasKilled(p *os.ProcessState) bool { return p.ExitCode() == 1 }

func mkfifo(string) error { return errors.ErrUnsupported }

// TestReaderHoldsUpNobody: an entry is replaced while readers have its file open, and the readers
// read the old version on. Readers of this package hold a file for a moment only, and a system that
// replaces no open file waits for them.
func TestReaderHoldsUpNobody(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	rev := mustPut(t, s, "a", "one", driver.None)
	f := testkit.Must(s.openEntry("a"))
	released := make(chan struct{})
	go func() {
		defer close(released)
		time.Sleep(50 * time.Millisecond)
		f.Close()
	}()
	mustPut(t, s, "a", "two", rev)
	wantEntry(t, s, "a", "two")
	<-released
}

// TestKeptOpen: a program that keeps an entry's file open for good makes the Put fail. The entry
// stays.
func TestKeptOpen(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	rev := mustPut(t, s, "a", "one", driver.None)
	f, err := os.Open(s.file("a")) // which does not let others rename the file
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, testkit.Err(s.Put(t.Context(), "a", []byte("two"), rev)), driver.ErrUnavailable)
	wantNoTemp(t, s.dir)
	wantEntry(t, s, "a", "one")
	f.Close()
	mustPut(t, s, "a", "two", rev)
}

// TestAbsentWhileReplaced: an entry whose name is away while another process has the entry's lock
// is not absent.
func TestAbsentWhileReplaced(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	mustPut(t, s, "a", "one", driver.None)
	f := testkit.Must(s.openEntry("a"))
	unlock, err := s.tryLock("a", f)
	if unlock == nil || err != nil {
		t.Fatal(unlock == nil, err)
	}
	away := s.file("a") + "-away"
	testkit.OK(t, os.Rename(s.file("a"), away))
	back := make(chan error)
	go func() {
		time.Sleep(20 * time.Millisecond)
		err := os.Rename(away, s.file("a"))
		unlock()
		back <- err
	}()
	wantEntry(t, s, "a", "one")
	if err := <-back; err != nil {
		t.Fatal(err)
	}
	wantError(t, testkit.Err(s.Get(t.Context(), "b")), driver.ErrNotFound)
}

// TestKeysOfDevices: keys whose names Windows takes for something else are keys like others.
func TestKeysOfDevices(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	keys := []string{"a", "a.", "a./b", "a/b", "aux", "aux.x/y", "com1/nul", "con", "con.", "con/a"}
	for _, key := range keys {
		mustPut(t, s, key, key, driver.None)
	}
	for _, key := range keys {
		wantEntry(t, s, key, key)
	}
	list, err := s.List(t.Context(), "")
	var got []string
	for _, e := range list {
		got = append(got, e.Key)
	}
	if err != nil || !slices.Equal(got, keys) {
		t.Errorf("List = %q, %v", got, err)
	}
	if names, err := s.Keys(t.Context(), ""); err != nil || !slices.Equal(names, keys) {
		t.Errorf("Keys = %q, %v", names, err)
	}
	testkit.OK(t, s.Probe(t.Context()))
}

package filelease

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
)

// TestSyncFailsOnce: a lease goes on after one fsync has failed, of a file or of a folder, whatever the error.
func TestSyncFailsOnce(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		var failing atomic.Int64 // the fsyncs until one fails
		h := plain
		h.sync = func(f *os.File) error {
			if failing.Add(-1) == 0 {
				return &os.PathError{Op: "sync", Path: f.Name(), Err: errno}
			}
			return f.Sync()
		}
		s := mustOpen(t, t.TempDir(), h)
		testkit.OK(t, minter.Create(t.Context(), s))
		g, l, err := minter.Start(t.Context(), s, lease.Config{Window: 500 * time.Millisecond, Timeout: wait.Patience}) // the disk may be slow
		testkit.OK(t, err)
		seen := make(map[minter.ID]bool)
		for nth := range int64(4) {
			failing.Store(nth + 1)
			renewals := l.Stats().Renewals
			wait.Until(t, "the lease is renewed after the fault", func() bool {
				if id, err := g.TryNext(); err == nil {
					if seen[id] {
						t.Errorf("%v is made twice", id)
					}
					seen[id] = true
				}
				return failing.Load() < 0 && l.Stats().Renewals > renewals+2 && l.Err() == nil
			})
		}
		if testkit.OK(t, l.Close()); len(seen) == 0 {
			t.Error("no IDs")
		}
	}
}

// TestReopenMakesNothing: a directory that is gone is not made again.
func TestReopenMakesNothing(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	mustPut(t, s, "a", "", "")
	testkit.OK(t, os.Rename(s.dir, s.dir+".away"))
	if _, err := s.Reopen(t.Context()); err == nil || exists(s.dir) {
		t.Errorf("a directory that is gone: %v", err)
	}
}

package lease_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/snowflakesi"
)

// TestDeletedDirectory: a state directory is deleted under a live generator, and another generator begins
// a pool there. No ID comes twice. The first generator ends with an error that says why.
func TestDeletedDirectory(t *testing.T) {
	const window = 100 * time.Millisecond
	var both [2]int // IDs that the two have made
	for round := range 50 {
		// Two workers, so that the other generator would often have the same one.
		dir := filepath.Join(t.TempDir(), "state")
		start := func() (*snowflakesi.Generator, *lease.Lease) {
			g := testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{ClockBits: 40, MachineBits: 1}}))
			l, err := lease.Start(t.Context(), files(t, dir), g, lease.Config{Window: window, First: window, Timeout: time.Minute}) // the disk may be slow
			if err != nil {
				t.Fatal(err)
			}
			return g, l
		}
		first, l := start()
		// At once: a renewal could put a file into a folder that is being emptied.
		testkit.OK(t, os.Rename(dir, dir+"-deleted"))
		second, other := start()
		if l.Worker() == other.Worker() {
			t.Errorf("round %d: both have worker %d", round, l.Worker())
		}
		ended := make(chan error, 1)
		made := make(map[snowflakesi.ID]bool) // by the first
		go func() {
			for t.Context().Err() == nil {
				id, err := first.Next(t.Context())
				if err == nil {
					made[id] = true
				} else if !errors.Is(err, lease.ErrLeaseExpired) || strings.Contains(err.Error(), dir) {
					ended <- err
					return
				} // else a request before the folder was renamed, on a slow disk, has not ended yet
			}
		}()
		var ids []snowflakesi.ID
		var err error
		for late := time.After(wait.Patience); err == nil; {
			select {
			case err = <-ended:
			case <-late:
				t.Fatalf("round %d: the first has not learned that its directory is away: %v", round, l.Err())
			default:
				// On a slow disk its lease may expire for a moment.
				if id, err := second.Next(t.Context()); err == nil {
					ids = append(ids, id)
				} else if !errors.Is(err, lease.ErrLeaseExpired) {
					t.Fatal(err)
				}
			}
		}
		if !errors.Is(err, lease.ErrLeaseExpired) {
			t.Errorf("round %d: the first ended with %v", round, err)
		}
		for _, id := range ids {
			if made[id] {
				t.Errorf("round %d: %v is made twice", round, id)
			}
		}
		both[0] += len(made)
		both[1] += len(ids)
		l.Close()
		other.Close()
	}
	if both[0] == 0 || both[1] == 0 {
		t.Errorf("they made %d IDs", both)
	}
}

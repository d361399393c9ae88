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
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/snowflakesi"
)

// TestDeletedDirectory: a state directory is deleted under a live generator, and another generator begins
// a pool there. No ID comes twice. The first generator ends with an error that says why.
func TestDeletedDirectory(t *testing.T) {
	const window = 100 * time.Millisecond
	var minted [2]int // by the first, and by the second
	for round := range 10 {
		dir := filepath.Join(t.TempDir(), "state")
		start := func() (*snowflakesi.Generator, *lease.Lease) {
			// With two workers, the other generator would often have the same worker.
			g := testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{ClockBits: 40, MachineBits: 1}}))
			c := lease.Config{Window: window, First: window, Timeout: time.Minute} // the disk may be slow
			l := testkit.Must(lease.Start(t.Context(), testkit.Must(filelease.Open(dir)), g, c))
			t.Cleanup(func() { l.Close() })
			return g, l
		}
		first, l := start()
		// At once: a renewal could put a file into a folder that is being emptied.
		testkit.OK(t, os.Rename(dir, dir+"-deleted"))
		second, other := start()
		if l.Worker() == other.Worker() {
			t.Errorf("round %d: both have worker %d", round, l.Worker())
		}
		made := make(map[snowflakesi.ID]bool)
		mint := func(i int) error {
			id, err := []*snowflakesi.Generator{first, second}[i].Next(t.Context())
			if err == nil && made[id] {
				t.Errorf("round %d: %v is made twice", round, id)
			}
			if err != nil && !errors.Is(err, lease.ErrLeaseExpired) { // as may be for a moment, on a slow disk
				t.Fatal(err)
			}
			if err == nil {
				made[id] = true
				minted[i]++
			}
			return err
		}
		wait.Until(t, "the first has learned that its directory is away", func() bool {
			mint(1)
			err := mint(0)
			return err != nil && strings.Contains(err.Error(), dir)
		})
		l.Close()
		other.Close()
	}
	if minted[0] == 0 || minted[1] == 0 {
		t.Errorf("they made %d IDs", minted)
	}
}

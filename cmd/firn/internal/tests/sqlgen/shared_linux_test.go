package sqlgen_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/nanoflake"
)

// TestShared: eight connections and a generator of Go make IDs from one pool: no ID comes twice, and
// the IDs of a connection increase.
func TestShared(t *testing.T) {
	const connections = 8
	each := 100_000
	switch {
	case testing.Short():
		each = 30_000
	case services.InFull():
		each = 1_000_000
	}
	addr, pools := database(t, sharedServer(t), sqlgen.Up), t.TempDir()
	feed(t, addr, pools)
	makes(t, addr)
	stop := beside(t, pools)
	lists := make([][]int64, connections)
	var all sync.WaitGroup
	for i := range lists {
		conn := open(t, addr)
		all.Go(func() {
			ids := make([]int64, 0, each+10_000)
			for n := 0; len(ids) < each; n++ {
				query := "SELECT * FROM firn.next_nanoflakes(10000)"
				switch {
				case n < 500:
					query = "SELECT firn.next_nanoflake()"
				case n%4 == 0:
					query = "SELECT firn.next_nanoflake() FROM generate_series(1, 1000)"
				}
				var err error
				if ids, err = some(t.Context(), conn, ids, query); err != nil {
					t.Error(err)
					return
				}
			}
			lists[i] = ids
		})
	}
	all.Wait()
	own := stop()
	worker := nanoflake.ID(lists[0][0]).GeneratorID()
	for _, ids := range lists {
		if !slices.IsSorted(ids) {
			t.Error("the IDs of a connection do not increase")
		}
		for _, id := range ids {
			if got := nanoflake.ID(id).GeneratorID(); got != worker {
				t.Fatalf("an ID of worker %d beside worker %d", got, worker)
			}
		}
	}
	wantDistinct(t, append(lists, own)...)
}

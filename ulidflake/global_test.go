package ulidflake_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

// "ulidflake.New() // 00CMXB6TAK4SA ulidflake.New().Int() // 14246757444195114"
func TestTextOfSpecification(t *testing.T) {
	id := ulidflake.New()
	n := ulidflake.New().Int()
	if len(id.String()) != 13 || n <= id.Int() || n != ulidflake.ID(n).Int64() {
		t.Errorf("%s, then %d", id, n)
	}
	if age := time.Since(id.Time(time.Time{})); age < 0 || age > time.Hour {
		t.Errorf("%s is %v old", id, age)
	}
	example := ulidflake.MustParse("00CMXB6TAK4SA")
	testkit.Same(t, example.Int(), 14246757444195114)
}

// Callers of New in many goroutines get different IDs, each goroutine in order, over the ends of
// milliseconds.
func TestNewIsUnique(t *testing.T) {
	const callers, each = 8, 100_000
	var made [callers][]ulidflake.ID
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			for range each {
				made[i] = append(made[i], ulidflake.New())
			}
		})
	}
	all.Wait()
	for i, ids := range made {
		if !slices.IsSorted(ids) {
			t.Errorf("caller %d: an ID is less than the one before", i)
		}
	}
	ids := slices.Concat(made[:]...)
	slices.Sort(ids)
	testkit.Same(t, len(slices.Compact(ids)), callers*each)
	if first, last := ids[0].Timestamp(), ids[len(ids)-1].Timestamp(); first == last {
		t.Errorf("all IDs are of one millisecond")
	}
}

// New waits for the epoch, and for a clock that is years behind the last ID.
func TestNewWaits(t *testing.T) {
	before := ulidflake.New()
	// To its end a millisecond continues by the processor's counter, which a bubble does not set.
	time.Sleep(2 * time.Millisecond)
	synctest.Test(t, func(t *testing.T) { // where time begins in the year 2000
		id := ulidflake.New()
		if id <= before {
			t.Errorf("%s after %s", id, before)
		}
		if now := time.Now().UTC(); !id.Time(time.Time{}).Equal(now.Truncate(time.Millisecond)) {
			t.Errorf("%s is of %v, at %v", id, id.Time(time.Time{}), now)
		}
	})
}

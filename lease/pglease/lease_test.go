package pglease

import (
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/nanoflake"
)

// TestLease has generators mint with workers of a pool in the store.
func TestLease(t *testing.T) {
	conn := connect(t, given())
	addr := given("table=" + schema(t, conn) + ".leases")
	s := prepared(t, addr)
	wanted := leased.NanoflakePool(nanoflake.Config{})
	if _, err := lease.Open(t.Context(), s, wanted.Name, wanted.Layout); !errors.Is(err, lease.ErrNoPool) {
		t.Errorf("Open of a pool that was not created: %v", err)
	}
	if _, err := lease.Create(t.Context(), s, wanted.Name, wanted.Layout); err != nil {
		t.Fatal(err)
	}
	if _, err := lease.Create(t.Context(), s, wanted.Name, wanted.Layout); !errors.Is(err, lease.ErrPoolExists) {
		t.Errorf("Create of a pool that is there: %v", err)
	}
	seen := make(map[nanoflake.ID]bool)
	const long, short = 10 * time.Second, 4 * time.Second // a busy machine may be slow
	for _, window := range []time.Duration{long, short} {
		for range 2 { // the second at once after the first
			g, l, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, leased.Options{
				Store: mustOpen(t, addr), Lease: lease.Config{Worker: lease.Number(7), Window: window, First: window, Timeout: window}})
			if err != nil {
				t.Fatal(err)
			}
			other := mustOpen(t, addr)
			_, second, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, leased.Options{Store: other, Lease: lease.Config{Worker: lease.Number(7), Wait: -1}})
			if !errors.Is(err, lease.ErrHeld) {
				t.Errorf("the same worker again: %v, %v; want an error that is lease.ErrHeld", second, err)
			}
			for range 10_000 {
				id, err := g.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if seen[id] || id.GeneratorID() != 7 {
					t.Fatalf("%v of generator %d, seen before: %v", id, id.GeneratorID(), seen[id])
				}
				seen[id] = true
			}
			if window == short { // over several renewals
				until := l.Until()
				for range 2 {
					for l.Until().Equal(until) {
						if _, err := g.Next(t.Context()); err != nil {
							t.Fatal(err)
						}
						time.Sleep(time.Millisecond)
					}
					until = l.Until()
				}
			}
			if err := l.Err(); err != nil {
				t.Error(err)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	// The clock is compared with the server's.
	_, l, err := leased.Nanoflake(t.Context(), nanoflake.Config{Clock: func() time.Time { return time.Now().Add(time.Hour) }}, leased.Options{Store: s})
	var skew *lease.SkewError
	if !errors.As(err, &skew) || !skew.OfStore {
		t.Errorf("with a clock that is an hour ahead: %v, %v; want a *lease.SkewError of the store's time", l, err)
	}
}

package lease_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// startNanoflake starts a lease for a new generator.
func startNanoflake(ctx context.Context, store driver.Store, c nanoflake.Config, config lease.Config) (*nanoflake.Generator, *lease.Lease, error) {
	c.Leased = true
	g, err := nanoflake.NewGenerator(c)
	if err != nil {
		return nil, nil, err
	}
	l, err := lease.Start(ctx, store, g, config)
	return g, l, err
}

// shared is a store that machines share.
type shared struct{ driver.Store }

// Start creates a missing pool only with Config.Create, or by its default name in a store of one machine.
func TestCreate(t *testing.T) {
	store := shared{memlease.New()}
	if _, _, err := startNanoflake(t.Context(), store, nanoflake.Config{}, lease.Config{}); !errors.Is(err, lease.ErrNoPool) {
		t.Fatal(err)
	}
	_, l, err := startNanoflake(t.Context(), store, nanoflake.Config{}, lease.Config{Create: true, Pool: "mine"})
	testkit.OK(t, err)
	l.Close()
	if p := l.Pool(); p.Name() != "mine" || p.Store() != store {
		t.Errorf("pool %s in %v", p.Name(), p.Store())
	}
	_, l, err = startNanoflake(t.Context(), memlease.New(), nanoflake.Config{}, lease.Config{})
	if err != nil {
		t.Fatalf("a store of one machine: %v", err)
	}
	l.Close()
	if _, _, err := startNanoflake(t.Context(), memlease.New(), nanoflake.Config{}, lease.Config{Pool: "mien"}); !errors.Is(err, lease.ErrNoPool) {
		t.Errorf("a store of one machine, and a name that may be misspelled: %v", err)
	}
}

// Start refuses a generator of another layout, and a generator that is not for leases. The store has
// then given nothing.
func TestStartRefuses(t *testing.T) {
	store := memlease.New()
	_, l, err := startNanoflake(t.Context(), store, nanoflake.Config{}, lease.Config{Pool: "mine", Create: true})
	testkit.OK(t, err)
	l.Close()
	workers := func() int {
		t.Helper()
		used, _, err := l.Pool().Workers(t.Context())
		testkit.OK(t, err)
		return len(used)
	}
	before := workers()
	epoch := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	_, _, err = startNanoflake(t.Context(), store, nanoflake.Config{Epoch: epoch}, lease.Config{Pool: "mine"})
	var mismatch *lease.MismatchError
	if !errors.As(err, &mismatch) || mismatch.Field != "epoch" {
		t.Errorf("another epoch: %v", err)
	}
	plain := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 5}))
	if _, err := lease.Start(t.Context(), store, plain, lease.Config{Pool: "mine"}); !errors.Is(err, iderr.ErrConfig) {
		t.Errorf("a generator with a worker of its own: %v", err)
	}
	if _, err := lease.Start(t.Context(), store, new(nanoflake.Generator), lease.Config{Pool: "mine"}); !errors.Is(err, iderr.ErrNotReady) {
		t.Errorf("a generator that no constructor made: %v", err)
	}
	if _, _, err := startNanoflake(t.Context(), store, nanoflake.Config{}, lease.Config{Pool: "mine", Worker: lease.Number(1024)}); !errors.Is(err, lease.ErrConfig) {
		t.Errorf("a worker that is not in the pool: %v", err)
	}
	gen, ended, err := startNanoflake(t.Context(), store, nanoflake.Config{}, lease.Config{Pool: "mine", Worker: lease.Number(l.Worker())})
	testkit.OK(t, err)
	ended.Close()
	if _, err := lease.Start(t.Context(), store, gen, lease.Config{Pool: "mine"}); !errors.Is(err, lease.ErrClosed) {
		t.Errorf("a generator that ended with its lease: %v", err)
	}
	if after := workers(); after != before {
		t.Errorf("%d workers were used before, and %d after", before, after)
	}
}

// Of many calls of Start with one generator, one succeeds. A failed call does not count.
func TestOneLeaseOfAGenerator(t *testing.T) {
	store := memlease.New()
	gen := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true}))
	if _, err := lease.Start(t.Context(), store, gen, lease.Config{Pool: "mine"}); !errors.Is(err, lease.ErrNoPool) {
		t.Fatal(err)
	}
	if _, err := lease.Start(t.Context(), store, gen, lease.Config{Pool: "mine", Create: true, Worker: lease.Number(5000)}); !errors.Is(err, lease.ErrConfig) {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	leases := make(chan *lease.Lease, 8)
	for range cap(leases) {
		wg.Go(func() {
			l, err := lease.Start(t.Context(), store, gen, lease.Config{Pool: "mine", Create: true})
			switch {
			case err == nil:
				leases <- l
			case !errors.Is(err, lease.ErrLeased):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(leases) != 1 {
		t.Fatalf("%d leases of a generator", len(leases))
	}
	l := <-leases
	if _, err := gen.Next(t.Context()); err != nil {
		t.Error(err)
	}
	testkit.OK(t, l.Close())
	if _, err := lease.Start(t.Context(), store, gen, lease.Config{Pool: "mine"}); !errors.Is(err, lease.ErrClosed) {
		t.Errorf("after the lease: %v", err)
	}
}

// A pool that a lease creates begins by the generator's clock, which the lease then finds right.
func TestStartCreatesByItsClock(t *testing.T) {
	for _, ahead := range []time.Duration{-30, 0, 30} {
		at := time.Now().Add(ahead * 365 * 24 * time.Hour).Truncate(time.Millisecond)
		clock := func() time.Time { return at }
		g := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true, Epoch: at.Add(-time.Hour), Clock: clock}))
		l, err := lease.Start(t.Context(), memlease.New(), g, lease.Config{Create: true})
		if err != nil {
			t.Fatalf("%d years ahead: %v", int(ahead), err)
		}
		if !l.Pool().Created().Equal(at) {
			t.Errorf("created at %v, not %v", l.Pool().Created(), at)
		}
		testkit.OK(t, l.Close())
	}
}

package metrics

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// behind is how far the clock of the generator single is behind.
var behind atomic.Int64

// idle returns metrics and a Set, which the metrics do not collect yet. The Set has a generator "orders" of two workers,
// and a generator "single" without a lease.
func idle(t testing.TB) (*Metrics, *supply.Set) { return on(t, &faults.Cut{}) }

func on(t testing.TB, store *faults.Cut) (*Metrics, *supply.Set) {
	t.Helper()
	nanoflake, _ := inspect.Lookup("nanoflake")
	m := New()
	store.Store = memlease.New()
	clock := func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
	set, err := supply.New(supply.Config{Notify: m.Event, Failed: m.Failed, Generators: []supply.Generator{
		{Name: "orders", Format: nanoflake, Workers: 2, Recipe: shape.Recipe{Leased: true}, Create: true, Store: "memory",
			Open: func(context.Context) (driver.Store, error) { return store, nil }},
		{Name: "single", Format: nanoflake, Recipe: shape.Recipe{Worker: 7, Clock: clock}},
	}})
	testkit.OK(t, err)
	t.Cleanup(func() {
		if err := set.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return m, set
}

// leasedOn returns metrics that collect a Set on a store.
func leasedOn(t testing.TB, store *faults.Cut) (*Metrics, *supply.Set) {
	m, set := on(t, store)
	m.Collect(set)
	return m, set
}

// serving returns metrics of a server with three protocols, which has answered requests.
func serving(t testing.TB) (*Metrics, *supply.Set) {
	t.Helper()
	m, set := leasedOn(t, &faults.Cut{})
	for _, s := range set.All() {
		testkit.OK(t, testkit.Err(s.AppendBinary(t.Context(), nil, 10)))
	}
	for _, protocol := range []string{"resp", "http", "grpc"} {
		c := m.Protocol(protocol)
		c.Opened()
		c.Answered(1, time.Millisecond)
		c.Refused(reason.Count)
	}
	return m, set
}

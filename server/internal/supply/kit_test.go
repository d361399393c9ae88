package supply_test

import (
	"context"
	"errors"
	"strings"
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

func format(t testing.TB, name string) inspect.Format {
	t.Helper()
	f, ok := inspect.Lookup(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	return f
}

// opens returns a Generator.Open for a store that is open already.
func opens(s driver.Store) func(context.Context) (driver.Store, error) {
	return func(context.Context) (driver.Store, error) { return s, nil }
}

// leased returns a generator of Nanoflakes with one leased worker. Generators of one store address share the store.
func leased(t testing.TB, name string, store driver.Store) supply.Generator {
	return supply.Generator{Name: name, Format: format(t, "nanoflake"), Recipe: shape.Recipe{Leased: true}, Pool: name, Create: true, Store: name, Open: opens(store)}
}

// start returns a Set, which ends with the test.
func start(t testing.TB, c supply.Config) *supply.Set {
	t.Helper()
	set, err := supply.New(c)
	testkit.OK(t, err)
	t.Cleanup(func() { stop(t, set) })
	return set
}

func stop(t testing.TB, set *supply.Set) {
	t.Helper()
	if err := set.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func find(t testing.TB, set *supply.Set, name string) *supply.Source {
	t.Helper()
	s, err := set.Find(name)
	testkit.OK(t, err)
	return s
}

// answers takes n IDs, and returns them.
func answers(t testing.TB, s *supply.Source, n int) []byte {
	t.Helper()
	ids, err := s.AppendBinary(t.Context(), nil, n)
	if err != nil || len(ids) != n*s.Size {
		t.Fatalf("%s: %d bytes for %d IDs, %v", s.Name, len(ids), n, err)
	}
	return ids
}

// refuses asks for an ID in all ways, and wants a reason, with parts of the text.
func refuses(t testing.TB, s *supply.Source, want *reason.Reason, parts ...string) {
	t.Helper()
	for way, ask := range map[string]func() ([]byte, error){
		"AppendBinary": func() ([]byte, error) { return s.AppendBinary(t.Context(), nil, 1) },
		"AppendTexts":  func() ([]byte, error) { return s.AppendTexts(t.Context(), nil, 1, "", "\n") },
		"Run": func() ([]byte, error) {
			_, n, err := s.Run(t.Context(), 1)
			return make([]byte, n), err
		},
	} {
		ids, err := ask()
		if len(ids) != 0 {
			t.Errorf("%s of %s: an ID, want %s", way, s.Name, want.Name)
		}
		is(t, err, want, parts...)
	}
}

// is wants an error of a reason, whose text has parts.
func is(t testing.TB, err error, want *reason.Reason, parts ...string) {
	t.Helper()
	got, ok := errors.AsType[*reason.Error](err)
	if !ok || got.Of != want {
		t.Errorf("error %v, want the reason %s", err, want.Name)
		return
	}
	for _, p := range parts {
		if !strings.Contains(got.Text, p) {
			t.Errorf("the text %q lacks %q", got.Text, p)
		}
	}
	if (got.Retry == 0) != (want.Retry == 0) {
		t.Errorf("%s: ask again after %v", want.Name, got.Retry)
	}
}

// A cut is a store that can be out of reach, and that several Sets use.
type cut struct{ faults.Cut }

func newCut() *cut { return &cut{faults.Cut{Store: memlease.New()}} }

// Close leaves the store open for other Sets.
func (c *cut) Close() error { return nil }

// A dial is a clock that a test sets.
type dial struct{ nanos atomic.Int64 }

func newDial(at time.Time) *dial {
	d := &dial{}
	d.set(at)
	return d
}

func (d *dial) set(at time.Time)     { d.nanos.Store(at.UnixNano()) }
func (d *dial) add(by time.Duration) { d.nanos.Add(int64(by)) }
func (d *dial) now() time.Time       { return time.Unix(0, d.nanos.Load()) }

// today lets the time of a bubble of testing/synctest pass to 2026: it begins in 2000, before the epoch of Nanoflakes.
func today() { time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) }

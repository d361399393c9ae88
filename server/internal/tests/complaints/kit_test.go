package complaints

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// A link is the connection of one server to a store. A test cuts the link, and makes it slow.
type link struct {
	faults.Cut
	puts atomic.Int64  // how many changes the server has asked for
	lose atomic.Int32  // how many of the next changes are lost on their way
	slow time.Duration // of each change
}

func (l *link) Close() error { return nil } // the store is that of other servers, too

func (l *link) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	l.puts.Add(1)
	if l.slow > 0 {
		time.Sleep(l.slow)
	}
	if !l.Down.Load() && l.lose.Add(-1) >= 0 {
		return driver.None, &driver.Error{Store: l.String(), Err: driver.ErrUnavailable}
	}
	return l.Cut.Put(ctx, key, value, rev)
}

// A server is a Set with one generator, "orders", and the server's own connection to the store.
type server struct {
	*supply.Source
	set  *supply.Set
	link *link
}

// A choice changes the settings of a server.
type choice func(*supply.Config, *supply.Generator, *link)

// few gives the pool two workers, by the narrowest worker of Snowflake-SI.
func few(_ *supply.Config, g *supply.Generator, _ *link) {
	g.Format, _ = inspect.Lookup("snowflakesi")
	g.Recipe.MachineBits = 1
}

// clocked gives the server a clock.
func clocked(now func() time.Time) choice {
	return func(_ *supply.Config, g *supply.Generator, _ *link) { g.Recipe.Clock = now }
}

// begin starts a server on a store.
func begin(t testing.TB, store *memlease.Store, choices ...choice) *server {
	t.Helper()
	s := &server{link: &link{Cut: faults.Cut{Store: store}}}
	nanoflake, _ := inspect.Lookup("nanoflake")
	g := supply.Generator{Name: "orders", Format: nanoflake, Recipe: shape.Recipe{Leased: true}, Pool: "orders", Create: true, Store: "store",
		Open: func(context.Context) (driver.Store, error) { return s.link, nil }}
	var c supply.Config
	for _, choose := range choices {
		choose(&c, &g, s.link)
	}
	c.Generators = append(c.Generators, g)
	var err error
	if s.set, err = supply.New(c); err != nil {
		t.Fatal(err)
	}
	s.Source, _ = s.set.Find("orders")
	t.Cleanup(func() { _ = s.set.Close(context.Background()) })
	return s
}

// stop stops the server as SIGTERM does: it gives back its workers.
func (s *server) stop(t testing.TB) {
	t.Helper()
	if err := s.set.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// kill stops the server as SIGKILL does: the store never hears of the end.
func (s *server) kill() {
	s.link.Down.Store(true)
	ended, end := context.WithCancel(context.Background())
	end()
	_ = s.set.Close(ended)
}

// take takes n IDs, and waits for the first worker for a minute at most.
func (s *server) take(t testing.TB, n int) []byte {
	t.Helper()
	for began := time.Now(); ; {
		ids, err := s.AppendBinary(t.Context(), nil, n)
		switch {
		case err == nil:
			return ids
		case !is(err, reason.Starting) || time.Since(began) > time.Minute:
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
	}
}

// is reports whether an error has a reason.
func is(err error, of *reason.Reason) bool {
	e, ok := errors.AsType[*reason.Error](err)
	return ok && e.Of == of
}

// all are the IDs of a test.
type all map[string]bool

// add adds IDs, and fails the test for an ID that came before.
func (a all) add(t testing.TB, s *server, ids []byte) {
	t.Helper()
	if id := a.twice(s, ids); id != "" {
		t.Fatalf("the ID %x comes twice", id)
	}
}

// twice adds IDs, and returns an ID that came before, or "".
func (a all) twice(s *server, ids []byte) (before string) {
	for ; len(ids) > 0; ids = ids[s.Size:] {
		id := string(ids[:s.Size])
		if a[id] {
			before = id
		}
		a[id] = true
	}
	return before
}

// worker returns the number of the server's worker.
func (s *server) worker() int { return s.Workers()[0].Number }

// today lets the time of a bubble of testing/synctest pass to 2026: it begins in 2000, before the epoch of Nanoflakes.
func today() { time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) }

// window is how long the worker of a killed server is out of use at most, with the pause between two tries of another.
const window = lease.DefaultWindow + 5*time.Second

package supply_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// TestClose closes a Set and gives its workers to another Set: at once, and not at the end of a window.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := newCut()
		g := few(t, store)
		g.Workers = 2
		first := start(t, supply.Config{Generators: []supply.Generator{g}})
		s := find(t, first, "few")
		ids := answers(t, s, 100)
		ready(s)
		time.Sleep(time.Minute)
		stop(t, first)
		refuses(t, s, reason.Draining, "few")
		is(t, s.Serving(), reason.Draining)
		began := time.Now()
		next := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "few")
		ids = append(ids, answers(t, next, 100)...)
		ready(next)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the workers came free after %v", took)
		}
		different(t, next, ids, nil)
	})
}

// ready waits until all workers are ready.
func ready(s *supply.Source) {
	for slices.ContainsFunc(s.Workers(), func(w supply.Worker) bool { return w.State != supply.Ready }) {
		time.Sleep(time.Millisecond)
	}
}

// different adds IDs to those seen, and fails the test for an ID that was seen before.
func different(t testing.TB, s *supply.Source, ids []byte, seen map[string]bool) map[string]bool {
	t.Helper()
	if seen == nil {
		seen = map[string]bool{}
	}
	for ; len(ids) > 0; ids = ids[s.Size:] {
		id := string(ids[:s.Size])
		if seen[id] {
			t.Fatalf("%s: the ID %x comes twice", s.Name, id)
		}
		seen[id] = true
	}
	return seen
}

// TestCloseIdle asks a generator for its first ID after Close: no lease begins, and no request waits.
func TestCloseIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		g := leased(t, "orders", nil)
		g.Open = func(context.Context) (driver.Store, error) {
			t.Error("a store opens after Close")
			return nil, errors.New("closed")
		}
		set := start(t, supply.Config{Generators: []supply.Generator{g}})
		s := find(t, set, "orders")
		stop(t, set)
		began := time.Now()
		refuses(t, s, reason.Draining, "orders")
		if took := time.Since(began); took != 0 {
			t.Errorf("requests waited %v", took)
		}
	})
}

// TestCloseStoreDown closes a Set whose store is away: Close ends with its context, and names what is left.
func TestCloseStoreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := &stuck{cut: newCut()}
		set, err := supply.New(supply.Config{Generators: []supply.Generator{leased(t, "orders", store)}})
		testkit.OK(t, err)
		s := find(t, set, "orders")
		answers(t, s, 1)
		store.stuck.Store(true)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := set.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "worker") {
			t.Errorf("Close: %v", err)
		}
		refuses(t, s, reason.Draining)
		stop(t, set) // the request for the store ends with its time-out
	})
}

// stuck is a store that can let calls hang.
type stuck struct {
	*cut
	stuck atomic.Bool
}

func (s *stuck) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if s.stuck.Load() {
		<-ctx.Done()
		return driver.None, &driver.Error{Store: "stuck", Err: driver.ErrUnavailable}
	}
	return s.cut.Put(ctx, key, value, rev)
}

// TestCloseDuringRequests closes a Set under load: each request gets IDs or the reason, and no ID comes twice.
func TestCloseDuringRequests(t *testing.T) {
	g := leased(t, "orders", newCut())
	g.Workers = 2
	set := start(t, supply.Config{Generators: []supply.Generator{g}})
	s := find(t, set, "orders")
	answers(t, s, 1)
	const clients = 8
	all := make([][]byte, clients)
	var running sync.WaitGroup
	for i := range clients {
		running.Go(func() {
			for {
				var err error
				if all[i], err = s.AppendBinary(t.Context(), all[i], 100); err != nil {
					is(t, err, reason.Draining)
					return
				}
			}
		})
	}
	stop(t, set)
	running.Wait()
	different(t, s, bytes.Join(all, nil), nil)
}

// TestByKey finds generators by keys of RESP.
func TestByKey(t *testing.T) {
	generator := func(name string, keys ...string) supply.Generator {
		return supply.Generator{Name: name, Format: format(t, "nanoflake"), Recipe: shape.Recipe{Worker: 1}, Keys: keys}
	}
	set := start(t, supply.Config{Generators: []supply.Generator{
		generator("short", "order:*"), generator("long", "order:eu:*", "customer:*"), generator("order:eu:exact"), generator("empty", "ticket*"),
	}})
	for key, want := range map[string]string{
		"order:1": "short", "order:": "short", "order:eu": "short", "order:eu:": "long", "order:eu:7": "long", "order:eu:exact": "order:eu:exact",
		"order:eu:exact2": "long", "customer:9": "long", "ticket": "empty", "tickets": "empty", "short": "short", "long": "long",
		"order": "", "Order:1": "", "": "", "orders": "", "order:*": "short", "\x00": "", strings.Repeat("k", 1000): "",
	} {
		s, err := set.ByKey([]byte(key))
		switch {
		case want == "":
			is(t, err, reason.Unknown, "short", "long", "empty")
			if n := len(reason.Of(err).Text); n > 300 {
				t.Errorf("an error of %d bytes", n)
			}
		case err != nil || s.Name != want:
			t.Errorf("%q: %v, %v, want %s", key, s, err, want)
		}
	}
	if _, err := set.Find("order:1"); err == nil {
		t.Error("Find takes a key for a name")
	}
	everything := start(t, supply.Config{Generators: []supply.Generator{generator("all", "*"), generator("some", "a*")}})
	for key, want := range map[string]string{"": "all", "b": "all", "ab": "some"} {
		if s, err := everything.ByKey([]byte(key)); err != nil || s.Name != want {
			t.Errorf("%q: %v, %v", key, s, err)
		}
	}
}

// TestRun takes runs from many goroutines: each run is consecutive, and no two overlap.
func TestRun(t *testing.T) {
	for _, name := range []string{"nanoflake", "snowflakesi"} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprint(name, workers), func(t *testing.T) {
				g := leased(t, "orders", newCut())
				g.Format, g.Workers = format(t, name), workers
				s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}, Wait: time.Minute}), "orders")
				if !s.Runs() {
					t.Fatal("no runs")
				}
				const clients, calls = 4, 300
				all := make([][]byte, clients)
				var running sync.WaitGroup
				for i := range clients {
					running.Go(func() {
						for call := range calls {
							want := 1 + (i*calls+call)%200
							first, n, err := s.Run(t.Context(), want)
							if err != nil || n < 1 || n > want {
								t.Errorf("a run of %d for %d: %v", n, want, err)
								return
							}
							for k := range n {
								all[i] = binary.BigEndian.AppendUint64(all[i], first+uint64(k))
							}
						}
					})
				}
				running.Wait()
				seen := different(t, s, bytes.Join(all, nil), nil)
				different(t, s, answers(t, s, 1000), seen)
			})
		}
	}
}

// TestRunIsOfOneTick checks that all IDs of a run have the same time and worker.
func TestRunIsOfOneTick(t *testing.T) {
	g := leased(t, "orders", newCut())
	g.Workers = 3
	s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}, Wait: time.Minute}), "orders")
	answers(t, s, 1)
	ready(s)
	for range 1000 {
		first, n, err := s.Run(t.Context(), supply.MaxRun)
		testkit.OK(t, err)
		for _, id := range []uint64{first, first + uint64(n) - 1} {
			if f := s.Shape.Fields[s.Shape.Sequence]; id>>f.Bits != first>>f.Bits {
				t.Fatalf("a run from %#x of %d IDs has another tick at its end", first, n)
			}
		}
	}
}

// TestUnique takes IDs by all methods, from many goroutines, of several workers and several Sets on one pool.
func TestUnique(t *testing.T) {
	for _, f := range inspect.Formats() {
		if f.Worker() == "" {
			continue
		}
		t.Run(f.Name(), func(t *testing.T) {
			store := newCut()
			var mu sync.Mutex
			seen := map[string]bool{}
			var running sync.WaitGroup
			for i := range 2 {
				g := leased(t, "orders", store)
				g.Format, g.Workers = f, 3
				if f.Name() == "scru160" || f.Name() == "ulidflake-scalable" {
					g.Workers = 2
				}
				s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}, Wait: time.Minute}), "orders")
				for j := range 4 {
					running.Go(func() {
						for call := range 30 {
							ids, err := take(t, s, i+j+call)
							if err != nil {
								t.Error(err)
								return
							}
							mu.Lock()
							different(t, s, ids, seen)
							mu.Unlock()
						}
					})
				}
			}
			running.Wait()
			if len(seen) == 0 {
				t.Error("no IDs")
			}
		})
	}
}

// take takes some IDs by one of the methods, and returns their binary forms.
func take(t *testing.T, s *supply.Source, way int) ([]byte, error) {
	const n = 100
	switch {
	case way%3 == 0:
		return s.AppendBinary(t.Context(), nil, n)
	case way%3 == 1 && s.Runs():
		first, run, err := s.Run(t.Context(), n)
		var ids []byte
		for k := range run {
			ids = binary.BigEndian.AppendUint64(ids, first+uint64(k))
		}
		return ids, err
	}
	texts, err := s.AppendTexts(t.Context(), nil, n, `"`, "\"\n")
	var ids []byte
	for line := range strings.Lines(string(texts)) {
		text, quoted := strings.CutPrefix(strings.TrimSuffix(line, "\"\n"), `"`)
		id, err := s.Format.Descriptor().Codec.Parse(text)
		if err != nil || !quoted {
			return nil, fmt.Errorf("the line %q: %w", line, err)
		}
		ids = append(ids, id...)
	}
	return ids, err
}

// TestWorkersMultiply checks that several workers make more IDs of a tick than one.
func TestWorkersMultiply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		g := leased(t, "orders", newCut())
		g.Workers = 3
		s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
		answers(t, s, 1)
		ready(s)
		time.Sleep(time.Millisecond)
		capacity := int(s.Shape.Capacity())
		if want := float64(3 * 1000 * capacity); s.PerSecond() != want {
			t.Errorf("%v IDs a second, want %v", s.PerSecond(), want)
		}
		began := time.Now()
		answers(t, s, 3*capacity)
		if took := time.Since(began); took >= time.Millisecond {
			t.Errorf("the IDs of one tick took %v", took)
		}
	})
}

// TestUsageSums ends generators of a member, whose leases had failures: no counter falls.
func TestUsageSums(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := newCut()
		var events sync.Map
		g := leased(t, "orders", store)
		g.Create = false
		set := start(t, supply.Config{Generators: []supply.Generator{g},
			Notify: func(s *supply.Source, e lease.Event) { events.Store(s.Name+" "+e.Kind.String(), true) }})
		s := find(t, set, "orders")
		var before supply.Worker
		rises := func() {
			t.Helper()
			w := s.Workers()[0]
			if w.Lease.Failures < before.Lease.Failures || w.Lease.Renewals < before.Lease.Renewals || w.Usage.Waits < before.Usage.Waits {
				t.Errorf("%+v after %+v", w, before)
			}
			before = w
		}
		for range 5 {
			store.Down.Store(true) // the lease fails for a while
			_, err := s.AppendBinary(t.Context(), nil, 1)
			if of := reason.Of(err).Of; of != reason.Starting && of != reason.Setup {
				t.Errorf("error %v", err)
			}
			failures := before.Lease.Failures
			for range 20 {
				time.Sleep(time.Second)
				rises()
			}
			if before.Lease.Failures < failures+3 {
				t.Errorf("%d failures after %d", before.Lease.Failures, failures)
			}
			store.Down.Store(false) // the lease ends: no pool
			for range 100 {
				time.Sleep(100 * time.Millisecond)
				rises()
			}
		}
		if _, ok := events.Load("orders ended"); !ok {
			t.Error("no event of a lease that ended")
		}
		answers(t, find(t, start(t, supply.Config{Generators: []supply.Generator{leased(t, "orders", store)}}), "orders"), 1)
		time.Sleep(10 * time.Second)
		const n = 10_000
		answers(t, s, n)
		time.Sleep(time.Minute)
		failures, waits := before.Lease.Failures, before.Usage.Waits
		rises()
		if before.Usage.IDs < n || before.Usage.IDs > n+10 || before.Lease.Renewals < 10 || before.Lease.Failures < failures || failures < 15 || waits == 0 {
			t.Errorf("%+v", before)
		}
	})
}

// TestSettings refuses settings that no generator takes, and names the generator.
func TestSettings(t *testing.T) {
	g := leased(t, "orders", memlease.New())
	g.Recipe = shape.Recipe{Worker: 1 << 20}
	if _, err := supply.New(supply.Config{Generators: []supply.Generator{g}}); !errors.Is(err, iderr.ErrConfig) || !strings.Contains(err.Error(), "generator orders: ") {
		t.Errorf("error %v", err)
	}
}

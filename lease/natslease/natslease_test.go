package natslease

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/nanoflake"
)

// given returns the address of a bucket of the server that the tests find, with settings added.
func given(bucket string, settings ...string) string {
	return at(cmp.Or(os.Getenv("FIRN_NATS_ADDRESS"), "nats://127.0.0.1:4222"), bucket, settings...)
}

// at returns the address of a bucket of a server.
func at(addr, bucket string, settings ...string) string {
	addr, query, _ := strings.Cut(addr, "?")
	addr = strings.TrimRight(addr, "/") + "/" + bucket
	if query != "" {
		settings = append([]string{query}, settings...)
	}
	if len(settings) == 0 {
		return addr
	}
	return addr + "?" + strings.Join(settings, "&")
}

// needGiven returns a store on the server that the tests find.
func needGiven(t testing.TB) *Store {
	t.Helper()
	s, err := Open(t.Context(), given("", "timeout=2s"))
	if err != nil {
		if os.Getenv("FIRN_REQUIRE_SERVICES") == "1" {
			t.Fatalf("NATS is not there, and FIRN_REQUIRE_SERVICES=1: %v", err)
		}
		t.Skipf("NATS is not there; set FIRN_NATS_ADDRESS to where it is: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// buckets returns a name, and deletes all buckets that begin with it after the test.
func buckets(t testing.TB, s *Store) string {
	name := "firn-test-" + strings.ToLower(rand.Text()[:10])
	t.Cleanup(func() {
		names := s.js.StreamNames(context.Background())
		for n := range names.Name() {
			if strings.HasPrefix(n, "KV_"+name) {
				if err := s.js.DeleteStream(context.Background(), n); err != nil {
					t.Errorf("%s: %v", n, err)
				}
			}
		}
		if err := names.Err(); err != nil {
			t.Error(err)
		}
	})
	return name
}

func mustOpen(t testing.TB, addr string) *Store {
	t.Helper()
	s, err := Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func prepared(t testing.TB, addr string) *Store {
	t.Helper()
	s := mustOpen(t, addr)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPut(t testing.TB, s *Store, key, value string, rev driver.Revision) driver.Revision {
	t.Helper()
	made, err := s.Put(t.Context(), key, []byte(value), rev)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func want(t testing.TB, s *Store, key, value string, rev driver.Revision) {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil || string(e.Value) != value || e.Revision != rev {
		t.Errorf("Get(%s) = %.40q at %q, %v; want %.40q at %q", key, e.Value, e.Revision, err, value, rev)
	}
}

// fails fails the test unless an error is one of a store's, of the kind, with words in its text or its advice.
func fails(t testing.TB, what string, err, kind error, words ...string) {
	t.Helper()
	var e *driver.Error
	if !errors.As(err, &e) || !errors.Is(err, kind) || e.Store == "" || e.Op == "" {
		t.Errorf("%s: %v; want a *driver.Error that is %q", what, err, kind)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %v\nhas no %q", what, err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: %q", what, err)
	}
	if testing.Verbose() {
		t.Logf("%s: %v", what, err)
	}
}

// all returns the errors of all calls but Inspect.
func all(ctx context.Context, s *Store) map[string]error {
	_, get := s.Get(ctx, "a")
	_, list := s.List(ctx, "")
	_, create := s.Put(ctx, "a", nil, driver.None)
	_, swap := s.Put(ctx, "a", nil, "1.1")
	return map[string]error{"get": get, "list": list, "create": create, "swap": swap, "prepare": s.Prepare(ctx)}
}

func suite(t *testing.T, name string, open func(t *testing.T, addr string) driver.Store) {
	var spaces atomic.Int64
	drivertest.Run(t, func(t *testing.T) func() driver.Store {
		addr := given(fmt.Sprintf("%s-%d", name, spaces.Add(1)))
		s, err := Open(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return func() driver.Store { return open(t, addr) }
	}, "hunter2")
}

func opened(t *testing.T, addr string) driver.Store {
	s, err := Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	suite(t, buckets(t, needGiven(t)), opened)
}

// owned closes its connection.
type owned struct {
	*Store
	conn *nats.Conn
}

func (o owned) Close() error {
	err := o.Store.Close()
	o.conn.Close()
	return err
}

// TestNew has connections of the client's own settings.
func TestNew(t *testing.T) {
	raw := needGiven(t)
	suite(t, buckets(t, raw), func(t *testing.T, addr string) driver.Store {
		addr, _, _ = strings.Cut(addr, "?")
		c, err := nats.Connect(raw.conn.ConnectedUrl())
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(t.Context(), c, Options{Bucket: addr[strings.LastIndexByte(addr, '/')+1:]})
		if err != nil {
			t.Fatal(err)
		}
		return owned{s, c}
	})
}

// TestManyPages has more entries than one of JetStream's pages of messages has.
func TestManyPages(t *testing.T) {
	const many = 1500
	s := prepared(t, given(buckets(t, needGiven(t))))
	for i := range many {
		if _, err := s.js.PublishAsync(s.subject(encode(fmt.Sprintf("pool/%05d", i))), []byte(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	<-s.js.PublishAsyncComplete()
	list, err := s.List(t.Context(), "pool/")
	if err != nil || len(list) != many {
		t.Fatalf("List has %d entries of %d, %v", len(list), many, err)
	}
	if !slices.IsSortedFunc(list, func(a, b driver.Entry) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("the entries are not in order")
	}
}

func TestLease(t *testing.T) {
	addr := given(buckets(t, needGiven(t)))
	s := mustOpen(t, addr)
	wanted := leased.NanoflakePool(nanoflake.Config{})
	if _, err := lease.Create(t.Context(), s, wanted.Name, wanted.Layout); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("Create where nothing was prepared: %v", err)
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
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
			_, second, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, leased.Options{
				Store: mustOpen(t, addr), Lease: lease.Config{Worker: lease.Number(7), Wait: -1}})
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
}

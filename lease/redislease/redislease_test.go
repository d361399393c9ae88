package redislease

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

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/nanoflake"
)

// given returns the address of the server that the tests find, with settings added.
func given(settings ...string) string {
	return with(cmp.Or(os.Getenv("FIRN_REDIS_ADDRESS"), "redis://127.0.0.1:6379/0"), settings...)
}

func with(addr string, settings ...string) string {
	for _, s := range settings {
		if strings.Contains(addr, "?") {
			addr += "&" + s
		} else {
			addr += "?" + s
		}
	}
	return addr
}

// needGiven returns a client of the server that the tests find.
func needGiven(t testing.TB) redis.UniversalClient {
	t.Helper()
	s, err := Open(t.Context(), given("timeout=2s"))
	if err != nil {
		if os.Getenv("FIRN_REQUIRE_SERVICES") == "1" {
			t.Fatalf("Redis is not there, and FIRN_REQUIRE_SERVICES=1: %v", err)
		}
		t.Skipf("Redis is not there; set FIRN_REDIS_ADDRESS to where it is: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s.client
}

// prefix returns a prefix of which nothing is left after the test.
func prefix(t testing.TB, c redis.UniversalClient) string {
	name := "firn-test-" + strings.ToLower(rand.Text()[:10])
	t.Cleanup(func() {
		left, err := c.Keys(context.Background(), "{"+name+"*").Result()
		if err == nil && len(left) > 0 {
			for _, key := range left {
				err = errors.Join(err, c.Del(context.Background(), key).Err())
			}
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
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

// all returns the errors of all calls but Inspect and Now.
func all(ctx context.Context, s *Store) map[string]error {
	_, get := s.Get(ctx, "a")
	_, list := s.List(ctx, "")
	_, create := s.Put(ctx, "a", nil, driver.None)
	_, swap := s.Put(ctx, "a", nil, "1.x")
	return map[string]error{"get": get, "list": list, "create": create, "swap": swap, "prepare": s.Prepare(ctx)}
}

func suite(t *testing.T, prefix, addr string, open func(t *testing.T, addr string) driver.Store) {
	var spaces atomic.Int64
	drivertest.Run(t, func(t *testing.T) func() driver.Store {
		addr := with(addr, fmt.Sprintf("prefix=%s:%d", prefix, spaces.Add(1)))
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
	suite(t, prefix(t, needGiven(t)), given(), opened)
}

// owned closes its client.
type owned struct {
	*Store
	client *redis.Client
}

func (o owned) Close() error { return errors.Join(o.Store.Close(), o.client.Close()) }

// TestNew has clients of go-redis's own settings, with repetitions.
func TestNew(t *testing.T) {
	raw := needGiven(t)
	suite(t, prefix(t, raw), given(), func(t *testing.T, addr string) driver.Store {
		_, prefix, _ := strings.Cut(addr, "prefix=")
		c := redis.NewClient(&redis.Options{Addr: raw.(*redis.Client).Options().Addr, DB: raw.(*redis.Client).Options().DB})
		s, err := New(t.Context(), c, Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		return owned{s, c}
	})
}

// TestPrefixes has stores whose prefixes are prefixes of each other.
func TestPrefixes(t *testing.T) {
	p := prefix(t, needGiven(t))
	for _, suffix := range []string{"", "x", ":entries", "/x"} {
		s := prepared(t, given("prefix="+p+suffix))
		mustPut(t, s, "a", suffix, driver.None)
		if list, err := s.List(t.Context(), ""); err != nil || len(list) != 1 || string(list[0].Value) != suffix {
			t.Errorf("%s: %v, %v", suffix, list, err)
		}
	}
}

// TestEnds has entries whose keys go on after a prefix with the first and the last of the characters.
func TestEnds(t *testing.T) {
	s := prepared(t, given("prefix="+prefix(t, needGiven(t))))
	keys := []string{"a", "a-", "a.", "a/-", "a/z", "a0", "a@", "a_", "az", "az/z", "azz", "b"}
	for _, key := range keys {
		mustPut(t, s, key, key, driver.None)
	}
	for prefix, want := range map[string][]string{"": keys, "a": keys[:11], "a/": keys[3:5], "az": keys[8:11], "z": nil} {
		list, err := s.List(t.Context(), prefix)
		var got []string
		for _, e := range list {
			got = append(got, e.Key)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("List(%q) has %q, %v; want %q", prefix, got, err, want)
		}
	}
}

// TestManyPages has more entries than List asks for at a time.
func TestManyPages(t *testing.T) {
	const many = 2*pageSize + 500
	s := prepared(t, given("prefix="+prefix(t, needGiven(t))))
	for i := range many {
		mustPut(t, s, fmt.Sprintf("pool/%05d", i), fmt.Sprint(i), driver.None)
	}
	list, err := s.List(t.Context(), "pool/")
	if err != nil || len(list) != many {
		t.Fatalf("List has %d entries of %d, %v", len(list), many, err)
	}
	if !slices.IsSortedFunc(list, func(a, b driver.Entry) int { return strings.Compare(a.Key, b.Key) }) {
		t.Error("the entries are not in order")
	}
}

func TestLease(t *testing.T) {
	addr := given("prefix=" + prefix(t, needGiven(t)))
	s := mustOpen(t, addr)
	wanted := leased.NanoflakePool(nanoflake.Config{})
	if _, err := lease.Create(t.Context(), s, wanted.Name, wanted.Layout); !errors.Is(err, errUnprepared) {
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
	// The clock is compared with the server's.
	_, l, err := leased.Nanoflake(t.Context(), nanoflake.Config{Clock: func() time.Time { return time.Now().Add(time.Hour) }}, leased.Options{Store: s})
	var skew *lease.SkewError
	if !errors.As(err, &skew) || !skew.OfStore {
		t.Errorf("with a clock that is an hour ahead: %v, %v; want a *lease.SkewError of the store's time", l, err)
	}
}

// TestString: the address that is shown leads to the same entries.
func TestString(t *testing.T) {
	for addr, want := range map[string]string{
		"redis://u:hunter2@h/3":                                            "redis://h:6379/3",
		"redis://h/?prefix=a:b/c&timeout=2s":                               "redis://h:6379/0?prefix=a%3Ab%2Fc",
		"redis://h?tls=true&prefix=firn":                                   "rediss://h:6379/0",
		"rediss://h,h2:7000?sentinel=s&sentinel-password=hunter2&prefix=p": "rediss://h:26379,h2:7000/0?prefix=p&sentinel=s",
		"redis://h,h2?cluster=true&password=hunter2":                       "redis://h:6379,h2:6379/0?cluster=true",
	} {
		for _, addr := range []string{addr, want} {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := Open(ctx, addr)
			var told *driver.Error
			if !errors.As(err, &told) || told.Store != want {
				t.Errorf("%s is shown as %v, not %s", addr, err, want)
			}
		}
	}
	name := prefix(t, needGiven(t))
	if strings.Contains(given(), "@") || strings.Contains(given(), "password") {
		t.Skip("the address that is shown has no password")
	}
	s := prepared(t, given("prefix="+name))
	rev := mustPut(t, s, "a", "x", driver.None)
	want(t, mustOpen(t, s.String()), "a", "x", rev)
}

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
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/servers/minter"
	"github.com/firn-id/firn/internal/servers/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
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

// prefix returns a new prefix, whose keys are deleted after the test.
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

// none is a revision that no entry has.
const none driver.Revision = "1.x"

// spaces returns what makes fresh stores, each with a prefix of its own. See [storetest.Spaces] for
// handle.
func spaces(prefix, addr string, handle func(t *testing.T, addr string) driver.Store) func(*testing.T) func() driver.Store {
	return storetest.Spaces(Open, func(n int64) string { return with(addr, fmt.Sprintf("prefix=%s:%d", prefix, n)) }, handle)
}

func TestStore(t *testing.T) {
	drivertest.Run(t, spaces(prefix(t, needGiven(t)), given(), nil), storetest.Secret)
}

// owned closes its client.
type owned struct {
	*Store
	client *redis.Client
}

func (o owned) Close() error { return errors.Join(o.Store.Close(), o.client.Close()) }

// TestNew has clients with the default settings of go-redis, which repeat requests.
func TestNew(t *testing.T) {
	raw := needGiven(t)
	drivertest.Run(t, spaces(prefix(t, raw), given(), func(t *testing.T, addr string) driver.Store {
		_, prefix, _ := strings.Cut(addr, "prefix=")
		c := redis.NewClient(&redis.Options{Addr: raw.(*redis.Client).Options().Addr, DB: raw.(*redis.Client).Options().DB})
		s, err := New(t.Context(), c, Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		return owned{s, c}
	}), storetest.Secret)
}

// TestPrefixes has stores whose prefixes are prefixes of each other.
func TestPrefixes(t *testing.T) {
	p := prefix(t, needGiven(t))
	for _, suffix := range []string{"", "x", ":entries", "/x"} {
		s := storetest.Prepare(t, Open, given("prefix="+p+suffix))
		storetest.Put(t, s, "a", suffix, driver.None)
		if list, err := s.List(t.Context(), ""); err != nil || len(list) != 1 || string(list[0].Value) != suffix {
			t.Errorf("%s: %v, %v", suffix, list, err)
		}
	}
}

// TestEnds has keys that continue a prefix with the first and the last character of keys.
func TestEnds(t *testing.T) {
	s := storetest.Prepare(t, Open, given("prefix="+prefix(t, needGiven(t))))
	keys := []string{"a", "a-", "a.", "a/-", "a/z", "a0", "a@", "a_", "az", "az/z", "azz", "b"}
	for _, key := range keys {
		storetest.Put(t, s, key, key, driver.None)
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
	s := storetest.Prepare(t, Open, given("prefix="+prefix(t, needGiven(t))))
	for i := range many {
		storetest.Put(t, s, fmt.Sprintf("pool/%05d", i), fmt.Sprint(i), driver.None)
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
	name := prefix(t, needGiven(t))
	if err := minter.Create(t.Context(), storetest.Open(t, Open, given("prefix="+name))); !errors.Is(err, errUnprepared) {
		t.Errorf("creating a pool where nothing was prepared: %v", err)
	}
	drivertest.RunLeases(t, spaces(name, given(), nil))
}

// TestString opens the address that a store shows, and finds the same entries.
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
	s := storetest.Prepare(t, Open, given("prefix="+name))
	rev := storetest.Put(t, s, "a", "x", driver.None)
	storetest.Want(t, storetest.Open(t, Open, s.String()), "a", "x", rev)
}

package redislease_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/redislease"
)

// given returns the address of the shared server, with settings added.
func given(settings ...string) string {
	return storetest.With(services.Redis.Address(), settings...)
}

// needGiven returns a client of the shared server.
func needGiven(t testing.TB) *redis.Client {
	t.Helper()
	s, err := redislease.Open(t.Context(), given("timeout=1m"))
	if err != nil {
		services.Redis.Missing(t, err)
	}
	s.Close()
	c, err := clientOfGiven()
	testkit.OK(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func clientOfGiven() (*redis.Client, error) {
	a, err := address.Parse(given())
	if err != nil {
		return nil, err
	}
	database, _ := strconv.Atoi(a.Path)
	return redis.NewClient(&redis.Options{Addr: a.Endpoints("6379", "localhost")[0], DB: database,
		Username: a.User, Password: a.Secret("password"), TLSConfig: a.TLS()}), nil
}

// client returns a client of the server at a host, beside the store.
func client(t testing.TB, host string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: host, Protocol: 2})
	t.Cleanup(func() { c.Close() })
	return c
}

// prefixes deletes the keys with a prefix on the shared server. The server may still have to handle the last
// request of a killed test, so prefixes looks for keys again.
var prefixes = undo.New("Redis", func(ctx context.Context, prefix string) error {
	c, err := clientOfGiven()
	if err != nil {
		return err
	}
	defer c.Close()
	for {
		left, err := c.Keys(ctx, "{"+prefix+"*").Result()
		if err != nil || len(left) == 0 {
			return err
		}
		for _, key := range left {
			if err := c.Del(ctx, key).Err(); err != nil {
				return err
			}
		}
	}
})

// prefix returns a new prefix, whose keys are deleted after the test. The client is of the server of
// the keys.
func prefix(t testing.TB, _ *redis.Client) string {
	name := "firn-test-" + strings.ToLower(rand.Text()[:10])
	prefixes.AtEnd(t, name)
	return name
}

// none is a revision of no entry.
const none driver.Revision = "1.x"

// spaces returns a function that makes fresh stores, each with a prefix of its own. See [storetest.Spaces] for
// handle.
func spaces(prefix, addr string, handle func(t *testing.T, addr string) driver.Store) func(*testing.T) func() driver.Store {
	return storetest.Spaces(redislease.Open, func(n int64) string { return storetest.With(addr, fmt.Sprintf("prefix=%s:%d", prefix, n)) }, handle)
}

func TestStore(t *testing.T) {
	drivertest.Run(t, spaces(prefix(t, needGiven(t)), given(), nil), storetest.Secret)
}

// TestNew has clients with the default settings of go-redis, which repeat requests.
func TestNew(t *testing.T) {
	raw := needGiven(t)
	drivertest.Run(t, spaces(prefix(t, raw), given(), func(t *testing.T, addr string) driver.Store {
		_, prefix, _ := strings.Cut(addr, "prefix=")
		o := *raw.Options()
		c := redis.NewClient(&redis.Options{Addr: o.Addr, DB: o.DB, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig})
		s, err := redislease.New(t.Context(), c, redislease.Options{Prefix: prefix, Timeout: wait.Patience})
		testkit.OK(t, err)
		t.Cleanup(func() { c.Close() })
		return s
	}), storetest.Secret)
}

// TestPrefixes has stores whose prefixes are prefixes of each other.
func TestPrefixes(t *testing.T) {
	p := prefix(t, needGiven(t))
	for _, suffix := range []string{"", "x", ":entries", "/x"} {
		s := storetest.Prepare(t, redislease.Open, given("prefix="+p+suffix))
		storetest.Put(t, s, "a", suffix, driver.None)
		if list, err := s.List(t.Context(), ""); err != nil || len(list) != 1 || string(list[0].Value) != suffix {
			t.Errorf("%s: %v, %v", suffix, list, err)
		}
	}
}

// TestEnds has keys that continue a prefix with the first and the last character of keys.
func TestEnds(t *testing.T) {
	s := storetest.Prepare(t, redislease.Open, given("prefix="+prefix(t, needGiven(t))))
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

// A hook answers the last command of a pipeline if the command has the name. A hook counts its answers, and
// commands without a pipeline.
type hook struct {
	name   string
	answer any
	asked  int
	single int
}

func (h *hook) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *hook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.single++
		return next(ctx, cmd)
	}
}
func (h *hook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		last, ok := cmds[len(cmds)-1].(*redis.Cmd)
		if ok && last.Name() == h.name {
			h.asked++
			if err, ok := h.answer.(error); ok {
				last.SetErr(err)
			} else {
				last.SetVal(h.answer)
			}
			cmds = cmds[:len(cmds)-1]
		}
		return next(ctx, cmds)
	}
}

// TestManyPages has more entries than List asks for at a time.
func TestManyPages(t *testing.T) {
	const many = 2500
	raw := needGiven(t)
	name := prefix(t, raw)
	var h hook
	raw.AddHook(&h)
	s, err := redislease.New(t.Context(), raw, redislease.Options{Prefix: name})
	testkit.OK(t, err)
	testkit.OK(t, s.Prepare(t.Context()))
	for i := range many {
		storetest.Put(t, s, fmt.Sprintf("pool/%05d", i), fmt.Sprint(i), driver.None)
	}
	h.single = 0
	storetest.Pages(t, s, many)
	if h.single < 3 {
		t.Errorf("List asked %d times for %d entries; want more than two pages of entries", h.single, many)
	}
}

func TestLease(t *testing.T) {
	s := storetest.Open(t, redislease.Open, given("prefix="+prefix(t, needGiven(t))))
	_, err := lease.Lookup(t.Context(), s, minter.Pool)
	storetest.Fails(t, "a pool where nothing was prepared", err, driver.ErrUnavailable, "the prefix has no leases")
	if err := minter.Create(t.Context(), s); err != nil {
		t.Errorf("lease.Create, which prepares: %v", err)
	}
	drivertest.RunLeases(t, spaces(prefix(t, needGiven(t)), given(), nil))
}

// TestCopied copies the keys to another prefix. A copy of the whole server has the same keys, and nothing tells it.
func TestCopied(t *testing.T) {
	c := needGiven(t)
	from, to := prefix(t, c), prefix(t, c)
	drivertest.Copied(t, storetest.Prepare(t, redislease.Open, given("prefix="+from)), func() driver.Store {
		for _, name := range []string{"entries", "index"} {
			testkit.OK(t, c.Copy(t.Context(), "{"+from+"}:"+name, "{"+to+"}:"+name, c.Options().DB, false).Err())
		}
		return storetest.Open(t, redislease.Open, given("prefix="+to))
	})
}

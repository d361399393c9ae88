package natslease_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
	"github.com/firn-id/firn/lease/natslease"
)

// given returns the address of a bucket of the shared server, with settings added.
func given(bucket string, settings ...string) string {
	return at(services.NATS.Address(), bucket, settings...)
}

// at returns the address of a bucket of a server.
func at(addr, bucket string, settings ...string) string {
	addr, query, found := strings.Cut(addr, "?")
	addr = strings.TrimRight(addr, "/") + "/" + bucket
	if found {
		addr += "?" + query
	}
	return storetest.With(addr, settings...)
}

// A client is a connection beside the store.
type client struct {
	*nats.Conn
	js jetstream.JetStream
}

// raw returns a client of the servers at the URLs.
func raw(t testing.TB, urls string, o ...nats.Option) *client {
	t.Helper()
	conn, err := nats.Connect(urls, append(o, nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))...)
	testkit.OK(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	testkit.OK(t, err)
	return &client{conn, js}
}

// open returns a store on the connection of the client.
func (c *client) open(t *testing.T, o natslease.Options) *natslease.Store {
	t.Helper()
	s, err := natslease.New(t.Context(), c.Conn, o)
	testkit.OK(t, err)
	return s
}

// cannotSync is a part of the finding about a server without sync_interval.
const cannotSync = "syncs its disk once a minute"

// unsynced returns a part of the finding about the disk of the server.
func (c *client) unsynced() string {
	if c.old() {
		return cannotSync
	}
	return "sync_interval: always"
}

// old reports whether the server has no sync_interval.
func (c *client) old() bool {
	var major, minor int
	fmt.Sscanf(c.ConnectedServerVersion(), "%d.%d.", &major, &minor)
	return major == 2 && minor < 10
}

// needGiven returns a client of the shared server.
func needGiven(t testing.TB) *client {
	t.Helper()
	s, err := natslease.Open(t.Context(), given("", "timeout=1m"))
	if err != nil {
		services.NATS.Missing(t, err)
	}
	s.Close()
	urls, o, err := urlsOfGiven()
	testkit.OK(t, err)
	return raw(t, urls, o...)
}

// urlsOfGiven returns the URLs and the options for a client of the shared server.
func urlsOfGiven() (urls string, o []nats.Option, err error) {
	a, err := address.Parse(given(""))
	if err != nil {
		return "", nil, err
	}
	if a.User != "" {
		o = append(o, nats.UserInfo(a.User, a.Secret("password")))
	}
	if token := a.Secret("token"); token != "" {
		o = append(o, nats.Token(token))
	}
	if c := a.TLS(); c != nil {
		o = append(o, nats.Secure(c))
	}
	return "nats://" + strings.Join(a.Endpoints("4222", "localhost"), ",nats://"), o, nil
}

// begun deletes all buckets that begin with a name, on the shared server. The server may still have to handle
// the last request of a killed test, so begun looks for buckets again.
var begun = undo.New("NATS", func(ctx context.Context, name string) error {
	urls, o, err := urlsOfGiven()
	if err != nil {
		return err
	}
	conn, err := nats.Connect(urls, o...)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	for again := true; again && err == nil; {
		again = false
		names := js.StreamNames(ctx)
		for n := range names.Name() {
			if strings.HasPrefix(n, "KV_"+name) {
				again = true
				if e := js.DeleteStream(ctx, n); !errors.Is(e, jetstream.ErrStreamNotFound) {
					err = errors.Join(err, e)
				}
			}
		}
		err = errors.Join(err, names.Err())
	}
	return err
})

// buckets returns a name, and deletes all buckets with the name as prefix after the test. The client is of
// the server of the buckets.
func buckets(t testing.TB, _ *client) string {
	name := "firn-test-" + strings.ToLower(rand.Text()[:10])
	begun.AtEnd(t, name)
	return name
}

// none is a revision of no entry.
const none driver.Revision = "1.1"

// spaces returns a function that makes fresh stores, each in a bucket of its own. See [storetest.Spaces] for
// handle.
func spaces(name string, handle func(t *testing.T, addr string) driver.Store) func(*testing.T) func() driver.Store {
	return storetest.Spaces(natslease.Open, func(n int64) string { return given(fmt.Sprintf("%s-%d", name, n)) }, handle)
}

func TestStore(t *testing.T) {
	drivertest.Run(t, spaces(buckets(t, needGiven(t)), nil), storetest.Secret)
}

// TestNew has connections with the default settings of the client.
func TestNew(t *testing.T) {
	raw := needGiven(t)
	drivertest.Run(t, spaces(buckets(t, raw), func(t *testing.T, addr string) driver.Store {
		addr, _, _ = strings.Cut(addr, "?")
		c, err := nats.Connect(raw.ConnectedUrl())
		testkit.OK(t, err)
		s, err := natslease.New(t.Context(), c, natslease.Options{Bucket: addr[strings.LastIndexByte(addr, '/')+1:], Timeout: wait.Patience})
		testkit.OK(t, err)
		t.Cleanup(c.Close)
		return s
	}), storetest.Secret)
}

// TestManyPages has more entries than one of JetStream's pages of messages has.
func TestManyPages(t *testing.T) {
	const many = 1500
	raw := needGiven(t)
	bucket := buckets(t, raw)
	s := storetest.Prepare(t, natslease.Open, given(bucket))
	for i := range many {
		if _, err := raw.js.PublishAsync(fmt.Sprintf("$KV.%s.pool.%05d", bucket, i), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	wait.Closed(t, "the server has all messages", raw.js.PublishAsyncComplete())
	storetest.Pages(t, s, many)
}

func TestLease(t *testing.T) {
	s := storetest.Open(t, natslease.Open, given(buckets(t, needGiven(t))))
	if _, err := lease.Lookup(t.Context(), s, minter.Pool); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("a pool where nothing was prepared: %v", err)
	}
	if err := minter.Create(t.Context(), s); err != nil {
		t.Errorf("lease.Create, which prepares: %v", err)
	}
	drivertest.RunLeases(t, spaces(buckets(t, needGiven(t)), nil))
}

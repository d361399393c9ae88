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
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/firn-id/firn/internal/servers/minter"
	"github.com/firn-id/firn/internal/servers/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
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

// none is a revision that no entry has.
const none driver.Revision = "1.1"

// spaces returns what makes fresh stores, each in a bucket of its own. See [storetest.Spaces] for
// handle.
func spaces(name string, handle func(t *testing.T, addr string) driver.Store) func(*testing.T) func() driver.Store {
	return storetest.Spaces(Open, func(n int64) string { return given(fmt.Sprintf("%s-%d", name, n)) }, handle)
}

func TestStore(t *testing.T) {
	drivertest.Run(t, spaces(buckets(t, needGiven(t)), nil), storetest.Secret)
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

// TestNew has connections with the default settings of the client.
func TestNew(t *testing.T) {
	raw := needGiven(t)
	drivertest.Run(t, spaces(buckets(t, raw), func(t *testing.T, addr string) driver.Store {
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
	}), storetest.Secret)
}

// TestManyPages has more entries than one of JetStream's pages of messages has.
func TestManyPages(t *testing.T) {
	const many = 1500
	s := storetest.Prepare(t, Open, given(buckets(t, needGiven(t))))
	for i := range many {
		if _, err := s.js.PublishAsync(s.subject(encode(fmt.Sprintf("pool/%05d", i))), fmt.Append(nil, i)); err != nil {
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
	name := buckets(t, needGiven(t))
	if err := minter.Create(t.Context(), storetest.Open(t, Open, given(name))); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("creating a pool where nothing was prepared: %v", err)
	}
	drivertest.RunLeases(t, spaces(name, nil))
}

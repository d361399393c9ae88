package etcdlease_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/etcdlease"
)

// quick makes servers elect a leader sooner than by default. On a busy machine the servers may
// elect a leader without need, which does no harm in tests of faults.
var quick = []string{"--heartbeat-interval", "50", "--election-timeout", "500"}

// calm makes servers elect a leader later than by default: tests without faults must not see that a
// busy machine delays the heartbeats of a leader.
var calm = []string{"--heartbeat-interval", "300", "--election-timeout", "3000"}

var spaces atomic.Int64

// space returns a new prefix.
func space() string { return fmt.Sprintf("space-%d", spaces.Add(1)) }

// hasty returns a store whose calls fail soon. On a busy machine the first calls may fail, too.
func hasty(t *testing.T, addr string) *etcdlease.Store {
	t.Helper()
	var s *etcdlease.Store
	again(t, func() (err error) {
		s, err = etcdlease.Open(t.Context(), addr+"?timeout=300ms")
		return err
	})
	t.Cleanup(func() { s.Close() })
	return s
}

// only returns the address of a single member.
func only(c *etcdtest.Cluster, i int, prefix string) string {
	return "etcd://" + c.Endpoint(i) + "/" + prefix
}

// client returns a client of package clientv3.
func client(t *testing.T, endpoints ...string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: endpoints})
	testkit.OK(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// fresh returns a function that makes fresh stores, each with a prefix of its own.
func fresh(c *etcdtest.Cluster) func(*testing.T) func() driver.Store {
	return storetest.Spaces(etcdlease.Open, func(int64) string { return c.Address(space()) }, nil)
}

func TestStore(t *testing.T) {
	turn.Take(t)
	c := etcdtest.New(t, etcdtest.Config{Args: calm})
	t.Run("Conformance", func(t *testing.T) {
		drivertest.Run(t, fresh(c))
	})
	t.Run("Prefixes", func(t *testing.T) { prefixes(t, c) })
	t.Run("ManyPages", func(t *testing.T) { manyPages(t, c) })
	t.Run("Foreign", func(t *testing.T) { foreign(t, c) })
	t.Run("Revision", func(t *testing.T) { revision(t, c) })
	t.Run("Client", func(t *testing.T) { ofClient(t, c) })
	t.Run("Watch", func(t *testing.T) { watching(t, c) })
	t.Run("Lease", func(t *testing.T) { drivertest.RunLeases(t, fresh(c)) })
	t.Run("Inspect", func(t *testing.T) { inspecting(t, c) })
}

// prefixes has stores whose prefixes are prefixes of each other, and the default one.
func prefixes(t *testing.T, c *etcdtest.Cluster) {
	raw := client(t, c.Endpoints()...)
	for prefix, key := range map[string]string{"": "firn/a", "p": "p/a", "p/": "p/a", "pp": "pp/a", "p/p": "p/p/a", "/p": "/p/a", "a%20b": "a b/a"} {
		s := storetest.Open(t, etcdlease.Open, c.Address(prefix))
		e, err := s.Get(t.Context(), "a")
		if errors.Is(err, driver.ErrNotFound) {
			e.Revision = storetest.Put(t, s, "a", prefix, driver.None)
		} else if err != nil || prefix != "p" && prefix != "p/" {
			t.Fatalf("%s: a is there already, of another store: %q, %v", s, e.Value, err)
		}
		got, err := raw.Get(t.Context(), key)
		if err != nil || len(got.Kvs) != 1 || driver.Revision(fmt.Sprint(got.Kvs[0].ModRevision)) != e.Revision {
			t.Errorf("%s: the key %s is %v, %v", s, key, got, err)
		}
	}
	for prefix, keys := range map[string]string{"p": "[a p/a]", "pp": "[a]", "": "[a]"} {
		s := storetest.Open(t, etcdlease.Open, c.Address(prefix))
		list, err := s.List(t.Context(), "")
		var got []string
		for _, e := range list {
			got = append(got, e.Key)
		}
		if fmt.Sprint(got) != keys || err != nil {
			t.Errorf("%s: List has %v, %v; want %s", s, got, err, keys)
		}
	}
}

// manyPages has more entries than List asks for at a time.
func manyPages(t *testing.T, c *etcdtest.Cluster) {
	const many = 2500
	prefix := space()
	raw, s := client(t, c.Endpoints()...), storetest.Open(t, etcdlease.Open, c.Address(prefix))
	for i := 0; i < many; i += 100 {
		var puts []clientv3.Op
		for n := i; n < i+100; n++ {
			puts = append(puts, clientv3.OpPut(fmt.Sprintf("%s/pool/%05d", prefix, n), fmt.Sprint(n)))
		}
		testkit.OK(t, testkit.Err(raw.Txn(t.Context()).Then(puts...).Commit()))
	}
	storetest.Pages(t, s, many)
}

// foreign has keys under the prefix that no store has written.
func foreign(t *testing.T, c *etcdtest.Cluster) {
	prefix := space()
	raw, s := client(t, c.Endpoints()...), storetest.Open(t, etcdlease.Open, c.Address(prefix))
	rev := storetest.Put(t, s, "a", "x", driver.None)
	for _, key := range []string{"/Upper", "/a//b", "/", "/a:b", "/.hidden"} {
		testkit.OK(t, testkit.Err(raw.Put(t.Context(), prefix+key, "foreign")))
	}
	list, err := s.List(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Key != "a" {
		t.Errorf("List = %v, %v", list, err)
	}
	storetest.Findings(t, s)
	if _, err := raw.Put(t.Context(), prefix+"/b", strings.Repeat("x", driver.MaxValue+1)); err != nil {
		t.Fatal(err)
	}
	storetest.Damaged(t, s, "b")
	storetest.Want(t, s, "a", "x", rev)

	// An entry with a lease of etcd, which etcd will delete.
	lease, err := raw.Grant(t.Context(), 3600)
	testkit.OK(t, err)
	testkit.OK(t, testkit.Err(raw.Put(t.Context(), prefix+"/c", "", clientv3.WithLease(lease.ID))))
	storetest.FindingsLose(t, s, true, "1 entries are tied")
	// Put removes the lease of etcd.
	e, err := s.Get(t.Context(), "c")
	testkit.OK(t, err)
	storetest.Put(t, s, "c", "", e.Revision)
	storetest.Findings(t, s)
}

// revision has revisions that no entry has.
func revision(t *testing.T, c *etcdtest.Cluster) {
	s := storetest.Open(t, etcdlease.Open, c.Address(space()))
	rev := storetest.Put(t, s, "a", "x", driver.None)
	storetest.Conflicts(t, s, "0", "-1", "x", "1 ", "+"+rev, "0"+rev, rev+"0", "99999999999999999999")
	storetest.Want(t, s, "a", "x", rev)
	storetest.Lists(t, s, 1)
}

func ofClient(t *testing.T, c *etcdtest.Cluster) {
	raw, prefix := client(t, "http://"+c.Endpoint(0), "http://"+c.Endpoint(1)), space()
	s, err := etcdlease.New(t.Context(), raw, prefix)
	testkit.OK(t, err)
	if want := "etcd://" + c.Endpoint(0) + "," + c.Endpoint(1) + "/" + prefix; s.String() != want {
		t.Errorf("String = %s, want %s", s, want)
	}
	rev := storetest.Put(t, s, "a", "x", driver.None)
	testkit.OK(t, s.Close())
	_, err = s.Get(t.Context(), "a")
	if !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := raw.Get(t.Context(), "a"); err != nil {
		t.Errorf("the client, which is not the store's: %v", err)
	}
	storetest.Want(t, storetest.Open(t, etcdlease.Open, c.Address(prefix)), "a", "x", rev)
}

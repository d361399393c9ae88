package servers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/testing/servertest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
)

// consulAt returns the address of a store. The number names the first server.
func consulAt(c *servertest.Consul, first int, prefix, token string) string {
	var hosts []string
	for i := range c.Len() {
		hosts = append(hosts, c.Endpoints()[(first+i)%c.Len()])
	}
	return "consul://" + strings.Join(hosts, ",") + "/" + prefix + "?timeout=2s&token=" + token
}

func TestConsul(t *testing.T) {
	c := servertest.NewConsul(t)
	token, err := c.Token(t.Context(), "test")
	testkit.OK(t, err)

	t.Run("Driver", func(t *testing.T) {
		var spaces, handles atomic.Int64
		drivertest.Run(t, func(t *testing.T) func() driver.Store {
			prefix := fmt.Sprintf("test/%d", spaces.Add(1))
			return func() driver.Store {
				// Each handle asks another server, except in the test of equal addresses.
				first := int(handles.Add(1))
				if strings.HasSuffix(t.Name(), "/String") {
					first = 0
				}
				s, err := consullease.Open(t.Context(), consulAt(c, first, prefix, token))
				testkit.OK(t, err)
				return s
			}
		}, token)
	})

	t.Run("Token", func(t *testing.T) { consulToken(t, c, token) })
	t.Run("Restore", func(t *testing.T) { consulRestore(t, c, token) })
	t.Run("Faults", func(t *testing.T) { consulFaults(t, c, token) })
}

func consulToken(t *testing.T, c *servertest.Consul, token string) {
	open := opened(t, consullease.Open)
	everything(t, open(consulAt(c, 0, "test/everything", token)))

	// With the further rules of docs/stores.md for doctor, Inspect sees all of Consul, and finds nothing wrong.
	inspector, err := c.Token(t.Context(), "test", "{ policy = \"write\" }", "{ policy = \"write\" }\noperator = \"read\"\nagent_prefix \"\" { policy = \"read\" }")
	testkit.OK(t, err)
	findings, err := open(consulAt(c, 0, "test/everything", inspector)).Inspect(t.Context())
	if err != nil || len(findings) > 0 {
		t.Errorf("Inspect = %v, %v; want nothing", findings, err)
	}

	readOnly, err := c.Token(t.Context(), "test", "write", "read")
	testkit.OK(t, err)
	s := open(consulAt(c, 0, "test/everything", readOnly))
	_, err = s.Put(t.Context(), "b", []byte("x"), driver.None)
	wantError(t, err, driver.ErrUnavailable, readOnly, "403", "Permission denied", "remedy: permissions")
	if _, err := s.Get(t.Context(), "b"); err == nil {
		t.Error("an entry was made that may only be read")
	}
	for addr, parts := range map[string][]string{
		consulAt(c, 0, "elsewhere", token):                                   {"403", "remedy: permissions"},
		consulAt(c, 0, "test", "5f0e1c9a-1d3b-4c55-9a40-000000000001"):       {"403", "ACL not found", "remedy: permissions"},
		consulAt(c, 0, "test", token) + "&datacenter=nowhere":                {"No path to datacenter", "remedy: address"},
		consulAt(c, 0, "test", token) + "&namespace=a":                       {"remedy: address"},
		strings.Split(consulAt(c, 0, "test", token), "?")[0] + "?timeout=2s": {"403", "remedy: permissions"},
	} {
		s, err := consullease.Open(t.Context(), addr)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", addr)
			continue
		}
		wantError(t, err, driver.ErrUnavailable, token, parts...)
	}
}

// After a restore an entry has the value of the backup, a watch reports the entry, and no revision comes twice.
func consulRestore(t *testing.T, c *servertest.Consul, token string) {
	s := opened(t, consullease.Open)(consulAt(c, 0, "test/restore", token))
	old, err := s.Put(t.Context(), "a", []byte("x"), driver.None)
	testkit.OK(t, err)
	backup, err := c.Snapshot(t.Context())
	testkit.OK(t, err)
	var lost []driver.Revision
	for rev := old; len(lost) < 20; lost = append(lost, rev) {
		rev, err = s.Put(t.Context(), "a", []byte("y"), rev)
		testkit.OK(t, err)
	}
	changes, err := s.Watch(t.Context(), "")
	testkit.OK(t, err)
	testkit.OK(t, c.Restore(t.Context(), backup))
	changed(t, changes, "a restore")
	e, err := s.Get(t.Context(), "a")
	if err != nil || string(e.Value) != "x" || e.Revision != old {
		t.Errorf("after the restore: %q at %q, %v; want x at %q", e.Value, e.Revision, err, old)
	}
	rev := old
	for range len(lost) {
		rev, err = s.Put(t.Context(), "a", []byte("z"), rev)
		testkit.OK(t, err)
		if slices.Contains(lost, rev) {
			t.Fatalf("the revision %q comes again", rev)
		}
	}
}

func consulFaults(t *testing.T, c *servertest.Consul, token string) {
	open := opened(t, consullease.Open)
	var stores []driver.Store
	for i := range 2 * c.Len() {
		stores = append(stores, open(consulAt(c, i, "test/faults", token)))
	}
	watcher := open(consulAt(c, 0, "test/faults", token))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	changes, err := watcher.Watch(ctx, "w/")
	testkit.OK(t, err)
	healthy := func() { testkit.OK(t, c.WaitHealthy(t.Context())) }
	leader := func() int {
		i, err := c.Leader(t.Context())
		testkit.OK(t, err)
		return i
	}
	testkit.OK(t, survive(t.Context(), stores, func() { // the leader is killed
		i := leader()
		c.Kill(i)
		if next := leader(); next == i {
			t.Errorf("%d leads after it was killed", i)
		}
		testkit.OK(t, c.Restart(i))
		healthy()
	}, func() { // the leader is stopped, and still believes that it leads when it goes on
		i := leader()
		testkit.OK(t, c.Stop(i))
		if next := leader(); next == i {
			t.Errorf("%d leads after it was stopped", i)
		}
		testkit.OK(t, c.Continue(i))
		healthy()
	}, func() { // all are killed
		for i := range c.Len() {
			c.Kill(i)
		}
		for i := range c.Len() {
			testkit.OK(t, c.Restart(i))
		}
		healthy()
	}))
	e, err := watcher.Get(t.Context(), "w/0")
	testkit.OK(t, err)
	watched(t, watcher, "w/0", changes, func() {})

	// Without a majority nothing is acknowledged. The words of the error depend on the last server.
	one := leader()
	c.Kill((one + 1) % c.Len())
	c.Kill((one + 2) % c.Len())
	_, err = stores[one].Put(t.Context(), "w/0", []byte("1"), e.Revision)
	wantError(t, err, driver.ErrUnavailable, token)
	_, err = stores[one].Get(t.Context(), "w/0")
	wantError(t, err, driver.ErrUnavailable, token)
	testkit.OK(t, c.Restart((one+1)%c.Len()))
	testkit.OK(t, c.Restart((one+2)%c.Len()))
	healthy()
}

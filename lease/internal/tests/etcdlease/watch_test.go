package etcdlease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/servers/etcdtest"
	"github.com/firn-id/firn/internal/servers/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

// patience is far longer than any wait of a test.
const patience = 30 * time.Second

func watch(t *testing.T, s *etcdlease.Store, prefix string) <-chan struct{} {
	t.Helper()
	changed, err := s.Watch(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// settle receives hints until no hint comes for a while, and reports whether there were any.
func settle(changed <-chan struct{}) (some bool) {
	for {
		select {
		case <-changed:
			some = true
		case <-time.After(200 * time.Millisecond):
			return some
		}
	}
}

func watching(t *testing.T, c *etcdtest.Cluster) {
	prefix := space()
	s, other := storetest.Open(t, etcdlease.Open, c.Address(prefix)), storetest.Open(t, etcdlease.Open, c.Address(prefix))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := s.Watch(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	pool := watch(t, s, "p/")
	rev := storetest.Put(t, other, "p/a", "1", driver.None)
	storetest.Told(t, "an entry that was created", all)
	storetest.Told(t, "an entry that was created", pool)
	storetest.Put(t, s, "p/a", "2", rev)
	storetest.Told(t, "a change", all)
	storetest.Told(t, "a change", pool)
	storetest.Put(t, other, "q", "1", driver.None)
	storetest.Told(t, "an entry that was created", all)
	if settle(pool) {
		t.Error("something was said of a change of q, not under p/")
	}
	storetest.Put(t, storetest.Open(t, etcdlease.Open, c.Address(prefix+"x")), "p/a", "", driver.None)
	if settle(all) || settle(pool) {
		t.Error("something was said of a change under another prefix")
	}
	for i := range 50 { // a watch without a receiver holds up no change
		e, err := other.Get(t.Context(), "q")
		if err != nil {
			t.Fatal(i, err)
		}
		storetest.Put(t, other, "q", "", e.Revision)
	}
	storetest.Told(t, "many changes", all)

	cancel()
	storetest.Closed(t, all)
	if _, err := s.Watch(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Watch with a context that has ended: %v", err)
	}
	storetest.Put(t, other, "p/b", "", driver.None)
	storetest.Told(t, "a change after another watch has ended", pool)
	s.Close()
	storetest.Closed(t, pool)
	if _, err := s.Watch(t.Context(), ""); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("Watch after Close: %v", err)
	}
}

// TestWatchFaults loses the connections of watches. A watch goes on and misses no change: if the
// server can resume the watch, if the server has compacted the history, and if the member had no
// leader.
func TestWatchFaults(t *testing.T) {
	t.Parallel()
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	prefix := space()
	near, everywhere := storetest.Open(t, etcdlease.Open, only(c, 0, prefix)), storetest.Open(t, etcdlease.Open, c.Address(prefix))
	rev := storetest.Put(t, everywhere, "a", "0", driver.None)
	far := hasty(t, "etcd://"+c.Endpoint(1)+","+c.Endpoint(2)+"/"+prefix)
	changed, roaming := watch(t, near, "a"), watch(t, everywhere, "a")
	change := func() int64 {
		t.Helper()
		for { // a time-out of a write says nothing
			r, err := far.Put(t.Context(), "a", nil, rev)
			if err == nil {
				rev = r
				break
			}
			e, err := far.Get(t.Context(), "a")
			if err == nil {
				rev = e.Revision
			}
		}
		got, err := client(t, c.Endpoint(1)).Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		return got.Header.Revision
	}

	t.Run("reconnection", func(t *testing.T) {
		c.Kill(0)
		change()
		storetest.Told(t, "a change while one member is down", roaming)
		if err := c.Restart(0); err != nil {
			t.Fatal(err)
		}
		storetest.Told(t, "a change while the only member that is known was down", changed)
	})
	t.Run("compaction", func(t *testing.T) {
		if err := c.WaitHealthy(t.Context()); err != nil {
			t.Fatal(err)
		}
		settle(changed)
		settle(roaming)
		c.Kill(0)
		change()
		change()
		last := change()
		if _, err := client(t, c.Endpoint(1)).Compact(t.Context(), last); err != nil {
			t.Fatal(err)
		}
		storetest.Told(t, "a change while one member is down", roaming)
		if err := c.Restart(0); err != nil {
			t.Fatal(err)
		}
		storetest.Told(t, "a change that was compacted away", changed)
	})
	t.Run("no leader", func(t *testing.T) {
		if err := c.WaitHealthy(t.Context()); err != nil {
			t.Fatal(err)
		}
		settle(changed)
		settle(roaming)
		isolated := hasty(t, only(c, 0, prefix))
		c.Isolate(0)
		wantNoLeader(t, isolated)
		time.Sleep(2 * time.Second) // after three election time-outs a member ends its watches
		change()
		storetest.Told(t, "a change while one member is cut off", roaming)
		c.Heal()
		storetest.Told(t, "a change while the only member that is known was cut off", changed)
	})
	t.Run("after all", func(t *testing.T) {
		if err := c.WaitHealthy(t.Context()); err != nil {
			t.Fatal(err)
		}
		settle(changed)
		settle(roaming)
		change()
		storetest.Told(t, "a change", changed)
		storetest.Told(t, "a change", roaming)
	})
}

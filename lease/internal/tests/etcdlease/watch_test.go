package etcdlease_test

import (
	"context"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

func watch(t *testing.T, s *etcdlease.Store, prefix string) <-chan struct{} {
	t.Helper()
	changed, err := s.Watch(t.Context(), prefix)
	testkit.OK(t, err)
	return changed
}

// drain drops the hint that a watch has given already, and reports whether there was one.
func drain(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

// unrelated changes an entry some times, of which one watch tells. The other watches must not tell of
// the changes. They may tell now and then without a change: a member without a leader ends watches.
func unrelated(t *testing.T, what string, s *etcdlease.Store, key string, tells <-chan struct{}, others ...<-chan struct{}) {
	t.Helper()
	const times = 10
	rev, told := driver.None, make([]int, len(others))
	for range times {
		rev = storetest.Put(t, s, key, "", rev)
		storetest.Told(t, what, tells)
		for i, other := range others {
			if drain(other) {
				told[i]++
			}
		}
	}
	for _, n := range told {
		if n > times/2 {
			t.Errorf("of %d changes, %s, a watch told %d times", times, what, n)
		}
	}
}

func watching(t *testing.T, c *etcdtest.Cluster) {
	prefix := space()
	s, other := storetest.Open(t, etcdlease.Open, c.Address(prefix)), storetest.Open(t, etcdlease.Open, c.Address(prefix))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := s.Watch(ctx, "")
	testkit.OK(t, err)
	pool := watch(t, s, "p/")
	rev := storetest.Put(t, other, "p/a", "1", driver.None)
	storetest.Told(t, "an entry that was created", all)
	storetest.Told(t, "an entry that was created", pool)
	storetest.Put(t, s, "p/a", "2", rev)
	storetest.Told(t, "a change", all)
	storetest.Told(t, "a change", pool)
	unrelated(t, "changes of q, not under p/", other, "q", all, pool)
	beyond := storetest.Open(t, etcdlease.Open, c.Address(prefix+"x"))
	unrelated(t, "changes under another prefix", beyond, "p/a", watch(t, beyond, ""), all, pool)
	for i := range 50 { // a watch without a receiver holds up no change
		e, err := other.Get(t.Context(), "q")
		if err != nil {
			t.Fatal(i, err)
		}
		storetest.Put(t, other, "q", "", e.Revision)
	}
	storetest.Told(t, "many changes", all)

	cancel()
	wait.Closed(t, "a watch ends with its context", all)
	testkit.Is(t, testkit.Err(s.Watch(ctx, "")), context.Canceled, "Watch with a context that has ended")
	storetest.Put(t, other, "p/b", "", driver.None)
	storetest.Told(t, "a change after another watch has ended", pool)
	s.Close()
	wait.Closed(t, "a watch ends with its store", pool)
	testkit.Is(t, testkit.Err(s.Watch(t.Context(), "")), driver.ErrUnavailable, "Watch after Close")
}

// TestWatchFaults loses the connections of watches. A watch goes on and misses no change: if the
// server can resume the watch, if the server has compacted the history, and if the member had no
// leader.
func TestWatchFaults(t *testing.T) {
	services.Full(t)
	t.Parallel()
	turn.Take(t)
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	prefix := space()
	near, everywhere := storetest.Open(t, etcdlease.Open, only(c, 0, prefix)), storetest.Open(t, etcdlease.Open, c.Address(prefix))
	rev := storetest.Put(t, everywhere, "a", "0", driver.None)
	far := hasty(t, "etcd://"+c.Endpoint(1)+","+c.Endpoint(2)+"/"+prefix)
	changed, roaming := watch(t, near, "a"), watch(t, everywhere, "a")
	change := func() int64 {
		t.Helper()
		wait.Until(t, "an entry is changed", func() bool { // a time-out of a write says nothing
			r, err := far.Put(t.Context(), "a", nil, rev)
			if err == nil {
				rev = r
				return true
			}
			if e, err := far.Get(t.Context(), "a"); err == nil {
				rev = e.Revision
			}
			return false
		})
		got, err := client(t, c.Endpoint(1)).Get(t.Context(), "a")
		testkit.OK(t, err)
		return got.Header.Revision
	}

	t.Run("reconnection", func(t *testing.T) {
		c.Kill(0)
		change()
		storetest.Told(t, "a change while one member is down", roaming)
		drain(changed)
		testkit.OK(t, c.Restart(0))
		storetest.Told(t, "a change while the only member that is known was down", changed)
	})
	t.Run("compaction", func(t *testing.T) {
		testkit.OK(t, c.WaitHealthy(t.Context()))
		c.Kill(0)
		change()
		drain(roaming)
		change()
		last := change()
		testkit.OK(t, testkit.Err(client(t, c.Endpoint(1)).Compact(t.Context(), last)))
		storetest.Told(t, "a change while one member is down", roaming)
		drain(changed)
		testkit.OK(t, c.Restart(0))
		storetest.Told(t, "a change that was compacted away", changed)
	})
	t.Run("no leader", func(t *testing.T) {
		testkit.OK(t, c.WaitHealthy(t.Context()))
		isolated := hasty(t, only(c, 0, prefix))
		another := client(t, c.Endpoint(0)).Watch(clientv3.WithRequireLeader(t.Context()), "a", clientv3.WithCreatedNotify())
		wait.Receive(t, "the beginning of a watch", another)
		c.Isolate(0)
		wantNoLeader(t, isolated)
		wait.Closed(t, "a member without a leader ends its watches", another)
		change()
		drain(roaming)
		drain(changed)
		change()
		storetest.Told(t, "a change while one member is cut off", roaming)
		c.Heal()
		storetest.Told(t, "a change while the only member that is known was cut off", changed)
	})
	t.Run("after all", func(t *testing.T) {
		testkit.OK(t, c.WaitHealthy(t.Context()))
		for range 10 { // the first hints may be of what was before
			change()
			storetest.Told(t, "a change", changed)
			storetest.Told(t, "a change", roaming)
		}
	})
}

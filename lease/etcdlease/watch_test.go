package etcdlease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/servers/etcdtest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
)

// patience is far more than anything takes here.
const patience = 30 * time.Second

func watch(t *testing.T, s *etcdlease.Store, prefix string) <-chan struct{} {
	t.Helper()
	changed, err := s.Watch(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func wantSignal(t *testing.T, changed <-chan struct{}, after string) {
	t.Helper()
	select {
	case _, ok := <-changed:
		if !ok {
			t.Fatalf("the channel was closed after %s", after)
		}
	case <-time.After(patience):
		t.Fatalf("nothing was said of %s", after)
	}
}

// settle takes what is said without delay.
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
	s, other := open(t, c.Address(prefix)), open(t, c.Address(prefix))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := s.Watch(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	pool := watch(t, s, "p/")
	rev := put(t, other, "p/a", "1", driver.None)
	wantSignal(t, all, "an entry that was created")
	wantSignal(t, pool, "an entry that was created")
	put(t, s, "p/a", "2", rev)
	wantSignal(t, all, "a change")
	wantSignal(t, pool, "a change")
	put(t, other, "q", "1", driver.None)
	wantSignal(t, all, "an entry that was created")
	if settle(pool) {
		t.Error("something was said of a change of q, not under p/")
	}
	put(t, open(t, c.Address(prefix+"x")), "p/a", "", driver.None)
	if settle(all) || settle(pool) {
		t.Error("something was said of a change under another prefix")
	}
	for i := range 50 { // nobody receives meanwhile, and it holds up nobody
		e, err := other.Get(t.Context(), "q")
		if err != nil {
			t.Fatal(i, err)
		}
		put(t, other, "q", "", e.Revision)
	}
	wantSignal(t, all, "many changes")

	cancel()
	wantClosed(t, all)
	if _, err := s.Watch(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("Watch with a context that has ended: %v", err)
	}
	put(t, other, "p/b", "", driver.None)
	wantSignal(t, pool, "a change after another watch has ended")
	s.Close()
	wantClosed(t, pool)
	if _, err := s.Watch(t.Context(), ""); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("Watch after Close: %v", err)
	}
}

func wantClosed(t *testing.T, changed <-chan struct{}) {
	t.Helper()
	for end := time.After(patience); ; {
		select {
		case _, ok := <-changed:
			if !ok {
				return
			}
		case <-end:
			t.Fatal("the channel is not closed")
		}
	}
}

// A watch whose connection is lost goes on, and misses nothing of what came meanwhile: not if it can be
// resumed, nor if the history that it would need is gone, nor if its member was without a leader.
func TestWatchFaults(t *testing.T) {
	t.Parallel()
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	prefix := space()
	near, everywhere := open(t, only(c, 0, prefix)), open(t, c.Address(prefix))
	rev := put(t, everywhere, "a", "0", driver.None)
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
		wantSignal(t, roaming, "a change while one member is down")
		if err := c.Restart(0); err != nil {
			t.Fatal(err)
		}
		wantSignal(t, changed, "a change while the only member that is known was down")
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
		wantSignal(t, roaming, "a change while one member is down")
		if err := c.Restart(0); err != nil {
			t.Fatal(err)
		}
		wantSignal(t, changed, "a change that was compacted away")
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
		wantSignal(t, roaming, "a change while one member is cut off")
		c.Heal()
		wantSignal(t, changed, "a change while the only member that is known was cut off")
	})
	t.Run("after all", func(t *testing.T) {
		if err := c.WaitHealthy(t.Context()); err != nil {
			t.Fatal(err)
		}
		settle(changed)
		settle(roaming)
		change()
		wantSignal(t, changed, "a change")
		wantSignal(t, roaming, "a change")
	})
}

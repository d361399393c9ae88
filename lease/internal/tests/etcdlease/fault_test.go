package etcdlease_test

import (
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/internal/tests/histories"
)

// TestFaults checks histories while the leader is killed, cut off from the other members, or
// frozen, again and again.
func TestFaults(t *testing.T) {
	services.Full(t)
	t.Parallel()
	turn.Take(t)
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	for _, fault := range []struct {
		name       string
		begin, end func(leader int) error
	}{
		{"killed", func(i int) error { c.Kill(i); return nil }, c.Restart},
		{"cut off", func(i int) error { c.Isolate(i); return nil }, func(int) error { c.Heal(); return nil }},
		{"frozen", c.Stop, c.Continue},
	} {
		t.Run(fault.name, func(t *testing.T) {
			prefix := space()
			var handles []driver.Store
			for range 3 {
				handles = append(handles, hasty(t, c.Address(prefix)))
			}
			beside := hasty(t, c.Address(space()))
			histories.Under(t, handles, func() error {
				leader, err := c.Leader(t.Context())
				if err != nil {
					return err
				}
				if err := fault.begin(leader); err != nil {
					return err
				}
				if next, err := c.Leader(t.Context()); err != nil || next == leader {
					return fmt.Errorf("the leader after the fault is the same: %t, %w", next == leader, err)
				}
				n := 0
				changes := wait.For(func() bool {
					n++
					_, err := beside.Put(t.Context(), fmt.Sprint("a", n), nil, driver.None)
					return err == nil
				})
				if !changes {
					return errors.New("nothing is changed any more with a new leader")
				}
				return errors.Join(fault.end(leader), c.WaitHealthy(t.Context()))
			})
			// The store works as before.
			rev := storetest.Put(t, storetest.Open(t, etcdlease.Open, c.Address(prefix)), "after", "x", driver.None)
			for _, h := range handles {
				again(t, func() error {
					e, err := h.Get(t.Context(), "after")
					if err == nil && e.Revision != rev {
						err = fmt.Errorf("it is at %q, not at %q", e.Revision, rev)
					}
					return err
				})
			}
		})
	}
}

// wantNoLeader waits until a store says that there is no leader.
func wantNoLeader(t *testing.T, s *etcdlease.Store) {
	t.Helper()
	again(t, func() error {
		_, err := s.Get(t.Context(), "a")
		if errors.Is(err, rpctypes.ErrNoLeader) {
			storetest.Fails(t, "the error", err, driver.ErrUnavailable, "no leader", "remedy: connect")
			return nil
		}
		return fmt.Errorf("without a leader: %w", err)
	})
}

// A whole cluster is the server of a suite of faults.
type whole struct {
	t *testing.T
	*etcdtest.Cluster
}

func (w whole) each(f func(member int) error) {
	for i := range w.Len() {
		testkit.OK(w.t, f(i))
	}
}

func (w whole) Stop()   { w.each(w.Cluster.Stop) }
func (w whole) Resume() { w.each(w.Cluster.Continue) }
func (w whole) Kill()   { w.each(func(i int) error { w.Cluster.Kill(i); return nil }) }
func (w whole) Run() {
	w.each(w.Cluster.Restart)
	testkit.OK(w.t, w.WaitHealthy(w.t.Context()))
}

// TestDown has a cluster that is frozen, killed, or without a majority.
func TestDown(t *testing.T) {
	services.Full(t)
	t.Parallel()
	turn.Take(t)
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	faults := func(t *testing.T) storetest.Faulty[*etcdlease.Store] {
		prefix := space()
		return storetest.Faulty[*etcdlease.Store]{Server: whole{t, c}, Open: etcdlease.Open, None: "1",
			Addr: func(settings ...string) string { return storetest.With(c.Address(prefix), settings...) }}
	}
	t.Run("frozen", func(t *testing.T) { faults(t).Stopped(t) })
	t.Run("killed", func(t *testing.T) { faults(t).Restart(t) })
	t.Run("no majority", func(t *testing.T) {
		prefix := space()
		s, patient := storetest.Open(t, etcdlease.Open, c.Address(prefix)+"?timeout=2s"), storetest.Open(t, etcdlease.Open, c.Address(prefix))
		rev := storetest.Put(t, s, "a", "x", driver.None)
		c.Kill(1)
		c.Kill(2)
		wantNoLeader(t, s)
		storetest.CallsFail(t, s, "1", "no majority", driver.ErrUnavailable, "no leader", "remedy: connect")
		_, err := s.Inspect(t.Context())
		storetest.Fails(t, "Inspect", err, driver.ErrUnavailable, "no leader", "remedy: connect")
		testkit.OK(t, errors.Join(c.Restart(1), c.Restart(2), c.WaitHealthy(t.Context())))
		storetest.Want(t, patient, "a", "x", rev)
	})
}

// TestNoStaleReads asks a member that is cut off from the others. The member does not answer from
// memory.
func TestNoStaleReads(t *testing.T) {
	services.Full(t)
	t.Parallel()
	turn.Take(t)
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	leader, err := c.Leader(t.Context())
	testkit.OK(t, err)
	prefix := space()
	for key, cut := range map[string]int{"a": leader, "b": (leader + 1) % c.Len()} {
		there, elsewhere := only(c, cut, prefix), only(c, (cut+1)%c.Len(), prefix)
		near, far := storetest.Open(t, etcdlease.Open, there), storetest.Open(t, etcdlease.Open, elsewhere)
		isolated, other := hasty(t, there), hasty(t, elsewhere)
		rev := storetest.Put(t, near, key, "old", driver.None)
		storetest.Want(t, far, key, "old", rev)
		c.Isolate(cut)
		wait.Until(t, "the other members make a change", func() bool {
			if _, err := other.Put(t.Context(), key, []byte("new"), rev); err == nil {
				return true
			}
			e, err := other.Get(t.Context(), key)
			return err == nil && string(e.Value) == "new"
		})
		for range 2 {
			e, err := isolated.Get(t.Context(), key)
			storetest.Fails(t, "the error", err, driver.ErrUnavailable)
			if err == nil {
				t.Fatalf("it answered with %q", e.Value)
			}
			if list, err := isolated.List(t.Context(), ""); err == nil {
				t.Fatalf("it listed %v", list)
			}
			_, err = isolated.Put(t.Context(), key, []byte("newer"), rev)
			if err == nil || errors.Is(err, driver.ErrConflict) {
				t.Fatalf("Put at a member that is cut off: %v", err)
			}
		}
		c.Heal()
		testkit.OK(t, c.WaitHealthy(t.Context()))
		if e, err := near.Get(t.Context(), key); err != nil || string(e.Value) != "new" {
			t.Errorf("afterwards: %q, %v", e.Value, err)
		}
	}
}

func TestForgotten(t *testing.T) {
	services.Full(t)
	t.Parallel()
	c := etcdtest.New(t, etcdtest.Config{Members: 1})
	open := func() *etcdlease.Store { return storetest.Open(t, etcdlease.Open, c.Address("p")) }
	s := storetest.Forgotten(t, open, c.Data(0), func() { c.Kill(0) }, func() { testkit.OK(t, errors.Join(c.Restart(0), c.WaitHealthy(t.Context()))) })
	_, err := s.Inspect(t.Context())
	storetest.Fails(t, "the error", err, driver.ErrUnsafe, "forgotten", "remedy: restored")
}

// again makes a call until it succeeds.
func again(t *testing.T, call func() error) {
	t.Helper()
	var err error
	if !wait.For(func() bool { err = call(); return err == nil }) {
		t.Fatal(err)
	}
}

// TestTwoClusters has an address with members of two clusters.
func TestTwoClusters(t *testing.T) {
	services.Full(t)
	t.Parallel()
	one, two := etcdtest.New(t, etcdtest.Config{Members: 1}), etcdtest.New(t, etcdtest.Config{Members: 1})
	addr := "etcd://" + one.Endpoint(0) + "," + two.Endpoint(0) + "/p"
	s, err := etcdlease.Open(t.Context(), addr)
	wait.For(func() bool { // the client may not be connected to both yet
		if err == nil {
			_, err = s.Put(t.Context(), "a", nil, driver.None)
			if errors.Is(err, driver.ErrConflict) {
				err = nil
			}
		}
		return err != nil
	})
	storetest.Fails(t, "the error", err, driver.ErrUnsafe, "the cluster", "remedy: restored")
}

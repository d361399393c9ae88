package etcdlease_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

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
			beside := hasty(t, c.Address(space()))
			handles := histories.Under(t, func() driver.Store { return hasty(t, c.Address(prefix)) }, func() error {
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

func (w whole) each(f func(member int) error) (err error) {
	for i := range w.Len() {
		err = errors.Join(err, f(i))
	}
	return err
}

func (w whole) Stop()   { testkit.OK(w.t, w.each(w.Cluster.Stop)) }
func (w whole) Resume() { testkit.OK(w.t, w.each(w.Cluster.Continue)) }

// TestDown has a cluster that is frozen, killed, or without a majority.
func TestDown(t *testing.T) {
	services.Full(t)
	t.Parallel()
	turn.Take(t)
	c := etcdtest.New(t, etcdtest.Config{Args: quick})
	t.Run("frozen", func(t *testing.T) {
		prefix := space()
		storetest.Faulty[*etcdlease.Store]{Server: whole{t, c}, Open: etcdlease.Open, None: "1",
			Addr: func(settings ...string) string { return storetest.With(c.Address(prefix), settings...) }}.Stopped(t)
	})
	t.Run("killed", func(t *testing.T) {
		prefix, all := space(), whole{t, c}
		histories.Under(t, func() driver.Store { return hasty(t, c.Address(prefix)) }, func() error {
			time.Sleep(300 * time.Millisecond) // in which some calls are made
			all.each(func(i int) error { c.Kill(i); return nil })
			return errors.Join(all.each(c.Restart), c.WaitHealthy(t.Context()))
		})
	})
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

// TestForgotten restores old data of a server, as after a failover that lost changes. A store that has seen newer
// data refuses the server. A new store puts a change at the revision of the lost change, which the first store
// therefore must not take for its own.
func TestForgotten(t *testing.T) {
	services.Full(t)
	t.Parallel()
	c := etcdtest.New(t, etcdtest.Config{Members: 1})
	open := func() *etcdlease.Store { return storetest.Open(t, etcdlease.Open, c.Address("p")) }
	start := func() { testkit.OK(t, errors.Join(c.Restart(0), c.WaitHealthy(t.Context()))) }
	s, data, backup := open(), c.Data(0), t.TempDir()
	rev := storetest.Put(t, s, "a", "0", driver.None)
	c.Kill(0)
	testkit.OK(t, os.CopyFS(backup, os.DirFS(data)))
	start()
	wait.Until(t, "the store is connected again", func() bool { _, err := s.Get(t.Context(), "a"); return err == nil })
	storetest.Want(t, s, "a", "0", rev) // after a crash of the process nothing is missing
	lost := storetest.Put(t, s, "a", "lost", rev)
	c.Kill(0)
	testkit.OK(t, errors.Join(os.RemoveAll(data), os.CopyFS(data, os.DirFS(backup))))
	start()
	wait.Until(t, "the loss is found out", func() bool { _, err := s.Get(t.Context(), "a"); return errors.Is(err, driver.ErrUnsafe) })
	other := open()
	storetest.Want(t, other, "a", "0", rev)
	if reused := storetest.Put(t, other, "a", "another", rev); reused != lost {
		t.Errorf("the change has revision %s, and the lost change had %s: the test shows nothing", reused, lost)
	}
	for range 2 {
		errs := storetest.Calls(t.Context(), s, lost)
		_, errs["watch"] = s.Watch(t.Context(), "")
		_, errs["inspect"] = s.Inspect(t.Context())
		for call, err := range errs {
			storetest.Fails(t, "set back: "+call, err, driver.ErrUnsafe, "forgotten", "remedy: restored")
		}
	}
	storetest.Want(t, other, "a", "another", lost)
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

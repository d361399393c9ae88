//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/nanoflake"
)

const handles = 32 // connections of the crowd; each stands for a process with many workers

// tally counts the events of the leases of a crowd.
type tally struct{ acquired, renewed, failing, expired, lost atomic.Int64 }

func (t *tally) notify(e lease.Event) {
	switch e.Kind {
	case lease.Acquired:
		t.acquired.Add(1)
	case lease.Renewed:
		t.renewed.Add(1)
	case lease.Failing:
		t.failing.Add(1)
	case lease.Expired:
		t.expired.Add(1)
	case lease.Lost:
		t.lost.Add(1)
	}
}

// crowd leases n workers of one pool on a cluster of three members.
func crowd(ctx context.Context, out io.Writer, n int) error {
	cluster, err := etcdtest.Start(ctx, etcdtest.Config{})
	if err != nil {
		return err
	}
	defer cluster.Close()
	var stores []driver.Store
	for range handles {
		s, err := open(ctx, cluster.Address("firn"))
		if err != nil {
			return err
		}
		defer s.Close()
		stores = append(stores, s)
	}
	g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return err
	}
	wanted, err := g.ForLease().Pool()
	if err != nil {
		return err
	}
	if _, err := lease.Create(ctx, stores[0], wanted.Name, wanted.Layout); err != nil {
		return err
	}
	var count tally
	var all sync.WaitGroup
	leases := make([]*lease.Lease, n)
	errs := make([]error, n)
	began := time.Now()
	for i := range n {
		all.Go(func() {
			g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
			if err == nil {
				leases[i], err = lease.Start(ctx, stores[i%handles], g, lease.Config{Notify: count.notify, Wait: time.Minute, Timeout: 10 * time.Second})
			}
			errs[i] = err
		})
	}
	all.Wait()
	took := time.Since(began)
	defer func() {
		for _, l := range leases {
			if l != nil {
				all.Go(func() { l.Close() })
			}
		}
		all.Wait()
	}()
	workers := make(map[int]bool)
	for i, l := range leases {
		if errs[i] != nil {
			return fmt.Errorf("lease %d of %d: %w", i, n, errs[i])
		}
		workers[l.Worker()] = true
	}
	if len(workers) != n {
		return fmt.Errorf("%d leases have %d workers", n, len(workers))
	}
	fmt.Fprintf(out, "%d workers, all different, taken in %v by as many leases at once\n", n, took.Round(time.Millisecond))
	watch := func(what string, d time.Duration) {
		renewed, failing, expired := count.renewed.Load(), count.failing.Load(), count.expired.Load()
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		fmt.Fprintf(out, "%s: in %v %d renewals (%.0f a second), %d tries that failed, %d leases that expired\n", what, d,
			count.renewed.Load()-renewed, float64(count.renewed.Load()-renewed)/d.Seconds(), count.failing.Load()-failing, count.expired.Load()-expired)
	}
	watch("the first window, of 1 s", 10*time.Second)
	watch("steady", 30*time.Second)
	leader, err := cluster.Leader(ctx)
	if err != nil {
		return err
	}
	cluster.Kill(leader)
	watch("leader killed", 15*time.Second)
	if err := cluster.Restart(leader); err != nil {
		return err
	}
	watch("and back", 15*time.Second)
	fmt.Fprintf(out, "%d workers were lost in all\n", count.lost.Load())
	return ctx.Err()
}

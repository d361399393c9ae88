//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

// A fleet is leases of one pool.
type fleet struct {
	at      *storage
	pool    string
	large   bool // a pool of sno
	members []member
}

// A member is a lease and its connection to the store.
type member struct {
	lease *lease.Lease
	conn  *conn
}

// A cost is what starts took.
type cost struct {
	cpu, wall             time.Duration
	requests, read, lists int64
}

// newFleet makes a pool, with so many records, unless the pool exists.
func newFleet(ctx context.Context, at *storage, records int, pool string) (*fleet, error) {
	f := &fleet{at: at, pool: pool, large: records > 1024 || pool == "rolling"}
	g, err := f.generator()
	if err != nil {
		return nil, err
	}
	wanted, err := g.ForLease().Pool()
	if err != nil {
		return nil, err
	}
	switch _, err := lease.Create(ctx, at.stores[0], pool, wanted.Layout); {
	case errors.Is(err, lease.ErrPoolExists):
		return f, nil
	case err != nil:
		return nil, err
	}
	return f, f.stock(ctx, records)
}

// stock makes the pool's first records copies of a record that a lease has made.
func (f *fleet) stock(ctx context.Context, records int) error {
	if records == 0 {
		return nil
	}
	store := f.at.stores[0]
	g, err := f.generator()
	if err != nil {
		return err
	}
	first, err := lease.Start(ctx, store, g, lease.Config{Pool: f.pool})
	if err != nil {
		return err
	}
	if err := first.Close(); err != nil {
		return err
	}
	sample, err := store.Get(ctx, fmt.Sprintf("%s/workers/%05d", f.pool, first.Worker()))
	if err != nil {
		return err
	}
	number := fmt.Sprintf(`"worker":%d,`, first.Worker())
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	turns := make(chan bool, 32)
	for worker := range records {
		turns <- true
		all.Go(func() {
			defer func() { <-turns }()
			value := strings.Replace(string(sample.Value), number, fmt.Sprintf(`"worker":%d,`, worker), 1)
			_, err := f.at.stores[worker%len(f.at.stores)].Put(ctx, fmt.Sprintf("%s/workers/%05d", f.pool, worker), []byte(value), driver.None)
			if err != nil && !errors.Is(err, driver.ErrConflict) {
				failed.Store(&err)
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	e, err := store.Get(ctx, f.pool+"/pool")
	if err != nil {
		return err
	}
	var r map[string]json.RawMessage
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return err
	}
	r["made"] = fmt.Appendf(nil, "[[0,%d]]", records)
	value, err := json.Marshal(r)
	if err == nil {
		_, err = store.Put(ctx, e.Key, value, e.Revision)
	}
	return err
}

func (f *fleet) generator() (lease.Generator, error) {
	if f.large {
		return sno.NewGeneratorWith(sno.Config{Leased: true})
	}
	return nanoflake.NewGenerator(nanoflake.Config{Leased: true})
}

// start starts n leases, so many at a time, each in the place of an earlier lease that ends before.
func (f *fleet) start(ctx context.Context, n, at int, window time.Duration) (cost, error) {
	before := f.members
	f.members = make([]member, n)
	errs := make([]error, n)
	var count traffic
	turns := make(chan bool, at)
	began, cpu := time.Now(), cpuTime()
	var all sync.WaitGroup
	for i := range n {
		turns <- true
		all.Go(func() {
			defer func() { <-turns }()
			if i < len(before) {
				before[i].end(i%2 == 0)
			}
			f.members[i], errs[i] = f.one(ctx, i, window, &count)
		})
	}
	all.Wait()
	c := cost{cpuTime() - cpu, time.Since(began), count.requests.Load(), count.read.Load(), count.lists.Load()}
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) > 0 {
		return c, fmt.Errorf("%d of %d leases did not start, the first because: %w", len(errs), n, errs[0])
	}
	return c, nil
}

// one starts a lease.
func (f *fleet) one(ctx context.Context, i int, window time.Duration, count *traffic) (member, error) {
	g, err := f.generator()
	if err != nil {
		return member{}, err
	}
	m := member{conn: &conn{Store: f.at.stores[i%len(f.at.stores)]}}
	m.conn.count.Store(count)
	m.lease, err = lease.Start(ctx, m.conn.able(), g, lease.Config{Pool: f.pool, Window: window, First: window, Timeout: 10 * time.Second})
	m.conn.count.Store(nil)
	return m, err
}

// end ends a lease, as by a kill if killed is set.
func (m member) end(killed bool) {
	m.conn.dead.Store(killed)
	m.lease.Close()
}

// end closes all leases.
func (f *fleet) end() {
	var all sync.WaitGroup
	for _, m := range f.members {
		if m.lease != nil {
			all.Go(func() { m.end(false) })
		}
	}
	all.Wait()
	f.members = nil
}

// made returns how many records the pool has.
func (f *fleet) made(ctx context.Context) (n int) {
	e, err := f.at.stores[0].Get(ctx, f.pool+"/pool")
	if err != nil {
		return -1
	}
	var r struct {
		Made [][2]int `json:"made"`
	}
	if json.Unmarshal(e.Value, &r) != nil {
		return -1
	}
	for _, m := range r.Made {
		n += m[1] - m[0]
	}
	return n
}

func cpuTime() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/firn-id/firn/internal/testing/etcdtest"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/etcdlease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/lease/pglease"
)

// A storage is a store, opened by some processes.
type storage struct {
	stores []driver.Store
	close  func()
}

var stores = map[string]func(ctx context.Context, dir string) (*storage, error){
	"memory":   memory,
	"files":    files,
	"postgres": postgres,
	"etcd":     etcd,
}

// handles is how often a store on a server is opened.
const handles = 8

func memory(context.Context, string) (*storage, error) {
	return &storage{[]driver.Store{memlease.New()}, func() {}}, nil
}

func files(_ context.Context, dir string) (*storage, error) {
	dir, err := os.MkdirTemp(dir, "starts")
	if err != nil {
		return nil, err
	}
	s, err := filelease.Open(dir)
	if err != nil {
		return nil, err
	}
	return &storage{[]driver.Store{s}, func() { s.Close(); os.RemoveAll(dir) }}, nil
}

func postgres(ctx context.Context, _ string) (*storage, error) {
	server, err := pgtest.Start(ctx, pgtest.Config{})
	if err != nil {
		return nil, err
	}
	return opened(func() { server.Close() }, func() (driver.Store, error) { return pglease.Open(ctx, server.Address()) })
}

func etcd(ctx context.Context, _ string) (*storage, error) {
	cluster, err := etcdtest.Start(ctx, etcdtest.Config{})
	if err != nil {
		return nil, err
	}
	return opened(func() { cluster.Close() }, func() (driver.Store, error) { return etcdlease.Open(ctx, cluster.Address("firn")) })
}

func opened(end func(), open func() (driver.Store, error)) (*storage, error) {
	s := &storage{close: end}
	for range handles {
		store, err := open()
		if err != nil {
			end()
			return nil, err
		}
		s.stores = append(s.stores, store)
	}
	s.close = func() {
		for _, store := range s.stores {
			store.Close()
		}
		end()
	}
	return s, nil
}

// A traffic counts requests, and the bytes of records that they read.
type traffic struct{ requests, read, lists atomic.Int64 }

func (t *traffic) add(lists int64, entries ...driver.Entry) {
	if t == nil {
		return
	}
	t.requests.Add(1)
	t.lists.Add(lists)
	for _, e := range entries {
		t.read.Add(int64(len(e.Value)))
	}
}

// A conn is a lease's connection to the store. It counts requests while it has a count, and makes no
// request once the lease's process is dead.
type conn struct {
	driver.Store
	count atomic.Pointer[traffic]
	dead  atomic.Bool
}

var errDead = fmt.Errorf("%w: the process is dead", driver.ErrUnavailable)

func (c *conn) Get(ctx context.Context, key string) (driver.Entry, error) {
	if c.dead.Load() {
		return driver.Entry{}, errDead
	}
	e, err := c.Store.Get(ctx, key)
	c.count.Load().add(0, e)
	return e, err
}

func (c *conn) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	if c.dead.Load() {
		return nil, errDead
	}
	list, err := c.Store.List(ctx, prefix)
	c.count.Load().add(1, list...)
	return list, err
}

func (c *conn) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if c.dead.Load() {
		return driver.None, errDead
	}
	c.count.Load().add(0)
	return c.Store.Put(ctx, key, value, rev)
}

func (c *conn) Batch() int { return c.Store.(driver.Batcher).Batch() }

func (c *conn) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	if c.dead.Load() {
		return nil, errDead
	}
	all, err := c.Store.(driver.Batcher).GetAll(ctx, keys)
	c.count.Load().add(0, all...)
	return all, err
}

func (c *conn) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	if c.dead.Load() {
		return nil, errDead
	}
	c.count.Load().add(0)
	return c.Store.(driver.Batcher).CreateAll(ctx, entries)
}

// able returns the connection with the abilities of the store that a start uses.
func (c *conn) able() driver.Store {
	switch s := c.Store.(type) {
	case driver.Clock:
		return withClock{c, s}
	case driver.Excluder:
		return withClaims{c, s}
	}
	return c
}

type withClock struct {
	*conn
	driver.Clock
}

type withClaims struct {
	*conn
	driver.Excluder
}

package faults

import (
	"context"
	"sync/atomic"

	"github.com/firn-id/firn/lease/driver"
)

// A Cut is the connection of one process to a store, which a test cuts and mends. The store is not local: a lease does not
// make a missing pool.
type Cut struct {
	driver.Store
	Down atomic.Bool // all calls fail with driver.ErrUnavailable, and the store gets none
}

func (c *Cut) check() error {
	if c.Down.Load() {
		return &driver.Error{Store: c.String(), Err: driver.ErrUnavailable}
	}
	return nil
}

// Get gets an entry.
func (c *Cut) Get(ctx context.Context, key string) (driver.Entry, error) {
	if err := c.check(); err != nil {
		return driver.Entry{}, err
	}
	return c.Store.Get(ctx, key)
}

// List lists entries.
func (c *Cut) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return c.Store.List(ctx, prefix)
}

// Put changes an entry.
func (c *Cut) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if err := c.check(); err != nil {
		return driver.None, err
	}
	return c.Store.Put(ctx, key, value, rev)
}

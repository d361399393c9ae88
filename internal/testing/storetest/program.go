package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// Program does what programs do with leases in a store that has the pool of package minter: it takes a
// worker, makes an ID, waits for changes, gives the worker back, and asks what the store can lose and what
// the pools have. The findings are those of the store.
func Program(ctx context.Context, s driver.Store) (findings []driver.Finding, err error) {
	gen, held, err := minter.Start(ctx, s, lease.Config{})
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	_, err = gen.Next()
	if w, ok := s.(driver.Watcher); ok && err == nil {
		watching, end := context.WithCancel(ctx)
		defer end()
		_, err = w.Watch(watching, "")
	}
	if c, ok := s.(driver.Clock); ok && err == nil {
		_, err = c.Now(ctx)
	}
	if err = errors.Join(err, held.Close()); err != nil {
		return nil, err
	}
	if _, err := lease.Survey(ctx, s); err != nil {
		return nil, fmt.Errorf("survey: %w", err)
	}
	return lease.Inspect(ctx, s)
}

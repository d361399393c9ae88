package drivertest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// A severed is a handle whose calls fail while it is cut off.
type severed struct {
	driver.Store
	cut atomic.Bool
}

func (h *severed) check(op, key string) error {
	if h.cut.Load() {
		return &driver.Error{Store: h.String(), Op: op, Key: key, Err: driver.ErrUnavailable}
	}
	return nil
}

func (h *severed) Get(ctx context.Context, key string) (driver.Entry, error) {
	if err := h.check("get", key); err != nil {
		return driver.Entry{}, err
	}
	return h.Store.Get(ctx, key)
}

func (h *severed) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	if err := h.check("list", prefix); err != nil {
		return nil, err
	}
	return h.Store.List(ctx, prefix)
}

func (h *severed) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if err := h.check("put", key); err != nil {
		return driver.None, err
	}
	return h.Store.Put(ctx, key, value, rev)
}

// Confirm is never cut off: a lease can ask before it has noticed its loss.
func (h *severed) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return h.Store.(driver.Confirmer).Confirm(ctx, key)
}

// regained has a lease lose its worker to another lease, and take the worker again.
func regained(s *space) {
	h, _ := s.confirmer()
	s.create(h)
	cut := &severed{Store: h}
	c := config(lease.Number(7), shortWindow)
	c.First, c.Timeout, c.Wait = 500*time.Millisecond, longWindow, longWindow
	first, held, err := minter.Start(s.Context(), cut, c)
	if err != nil {
		s.Fatalf("taking a lease: %v", err)
	}
	defer held.Close()
	before, err := first.Next()
	if err != nil {
		s.Fatalf("an ID: %v", err)
	}
	at := func(id minter.ID) time.Time { return time.UnixMilli(id.Tick) }
	if since, err := held.Confirm(s.Context()); err != nil || since.After(at(before)) {
		s.Errorf("the lease has the worker, with an ID of %v: Confirm: since %v, %v", at(before), since, err)
	}
	cut.cut.Store(true)
	successor := s.start(c)
	between, err := successor.Next()
	if err != nil {
		s.Fatalf("an ID of the successor: %v", err)
	}
	if since, err := held.Confirm(s.Context()); !errors.Is(err, lease.ErrLost) {
		s.Errorf("another lease has the worker: Confirm: since %v, %v; want an error that is ErrLost", since, err)
	}
	if _, err := successor.lease.Confirm(s.Context()); err != nil {
		s.Errorf("the successor has the worker: Confirm: %v", err)
	}
	s.end(successor)
	cut.cut.Store(false)
	var after minter.ID
	wait.Until(s.TB, "the first lease has the worker again", func() bool {
		after, err = first.TryNext()
		return err == nil && after.Tick > between.Tick
	})
	if since, err := held.Confirm(s.Context()); err != nil || !since.After(at(between)) || since.After(at(after)) {
		s.Errorf("the lease has the worker again, between IDs of %v and %v: Confirm: since %v, %v", at(between), at(after), since, err)
	}
}

package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// Clocked is a store with a clock, which a test sets.
type Clocked struct {
	driver.Store
	Time func() time.Time
}

// Now returns the time of the clock.
func (c Clocked) Now(ctx context.Context) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, &driver.Error{Store: c.String(), Op: "now", Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err)}
	}
	return c.Time(), nil
}

// Confirm calls Confirm of the store. If the store is no [driver.Confirmer], the error is
// [driver.ErrUnconfirmable].
func (c Clocked) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	if s, ok := c.Store.(driver.Confirmer); ok {
		return s.Confirm(ctx, key)
	}
	return driver.Entry{}, &driver.Error{Store: c.String(), Op: "confirm", Key: key, Err: driver.ErrUnconfirmable}
}

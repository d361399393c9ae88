package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// CheckWrites reports whether the pool's store takes changes, and how long a change takes. It asks
// the store to create the pool's record. The record exists: the store has to refuse. A store that
// accepts does not compare before a swap: the error is [driver.ErrUnsafe]. CheckWrites is for
// tools.
func (p *Pool) CheckWrites(ctx context.Context) (took time.Duration, err error) {
	e, err := p.store.Get(ctx, poolKey(p.name))
	if err != nil {
		return 0, err
	}
	began := time.Now()
	_, err = p.store.Put(ctx, e.Key, e.Value, driver.None)
	took = time.Since(began)
	switch {
	case errors.Is(err, driver.ErrConflict):
		return took, nil
	case err == nil:
		err = fmt.Errorf("the store has created a record that exists: it does not compare before it swaps, and is not safe for leases: %w", driver.ErrUnsafe)
	}
	return took, err
}

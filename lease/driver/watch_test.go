package driver_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// A watch tells of changes without waiting for a receiver, begins again as long as its context and the handle live, and
// tells of what it may have missed.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHandle(nil)
		broken := errors.New("broken")
		var down atomic.Bool
		var started atomic.Int32
		ends := make(chan struct{})
		watch := func(ctx context.Context) (<-chan struct{}, error) {
			return driver.Watch(ctx, h, func(ctx, limit context.Context) (func(func()), error) {
				if started.Add(1); down.Load() {
					return nil, broken
				}
				return func(changed func()) {
					changed()
					changed()
					select {
					case <-ends:
					case <-ctx.Done():
					}
				}, nil
			})
		}
		down.Store(true)
		_, err := watch(t.Context())
		wantError(t, "a watch that does not start", err, driver.Error{Store: "test://store", Op: "watch", Err: broken})

		down.Store(false)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		changes := testkit.Must(watch(ctx))
		synctest.Wait()
		<-changes
		synctest.Wait()
		testkit.Same(t, len(changes), 0)

		down.Store(true)
		ends <- struct{}{}
		time.Sleep(time.Minute)
		testkit.Same(t, len(changes), 0)
		if n := started.Load(); n < 50 || n > 100 {
			t.Errorf("a watch that cannot begin was started %d times in a minute", n)
		}
		down.Store(false)
		time.Sleep(time.Second)
		<-changes

		cancel()
		synctest.Wait()
		for range changes { // until it is closed
		}
		changes = testkit.Must(watch(t.Context()))
		h.Close()
		synctest.Wait()
		for range changes {
		}
		_, err = watch(t.Context())
		testkit.Is(t, err, driver.ErrUnavailable, "a watch of a store that is closed")
	})
}

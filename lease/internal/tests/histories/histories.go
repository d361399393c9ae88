// Package histories checks that a store is linearizable while its servers fail.
package histories

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
)

// Under runs histories of three handles while a fault happens again and again: until the fault has
// happened twice at least, and the histories show changes, conflicts, and calls that have gone wrong.
// It returns the handles.
func Under(t *testing.T, open func() driver.Store, fault func() error) []driver.Store {
	t.Helper()
	handles := []driver.Store{open(), open(), open()}
	var over atomic.Bool
	var happened atomic.Int32
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !over.Load() {
			if err := fault(); err != nil {
				t.Error(err)
				return
			}
			happened.Add(1)
		}
	}()
	defer func() { <-ended }()
	defer over.Store(true)
	var sum drivertest.Outcome
	for seed := range uint64(500) {
		o := drivertest.History(t, handles, seed)
		sum.Changed += o.Changed
		sum.Conflicts += o.Conflicts
		sum.Unknown += o.Unknown
		sum.Failed += o.Failed
		if o.Err != nil && !errors.Is(o.Err, driver.ErrUnavailable) {
			t.Errorf("a call has failed with: %v", o.Err)
		}
		if t.Failed() || happened.Load() > 1 && sum.Changed >= 100 && sum.Conflicts > 0 && sum.Unknown > 0 && sum.Failed > 0 {
			t.Logf("%d faults, %d histories: %+v", happened.Load(), seed+1, sum)
			return handles
		}
	}
	t.Errorf("%d faults, and the histories show nothing: %+v", happened.Load(), sum)
	return handles
}

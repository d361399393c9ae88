package lease_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/memlease"
)

// TestTickets has the generator of ExampleGenerator make tickets in many goroutines, through
// renewals and handovers of few workers. No ticket comes twice.
func TestTickets(t *testing.T) {
	store := memlease.New()
	defer store.Close()
	var mu sync.Mutex
	made := make(map[Ticket]bool)
	var all sync.WaitGroup
	for worker := range 3 {
		all.Go(func() {
			for range 5 { // generators with the worker, one after another
				tickets := new(Tickets)
				var renewed atomic.Bool
				held, err := lease.Start(t.Context(), store, tickets, lease.Config{
					Worker: lease.Number(worker), Window: 100 * time.Millisecond, First: 20 * time.Millisecond, Timeout: time.Minute,
					Notify: func(e lease.Event) {
						if e.Kind == lease.Renewed {
							renewed.Store(true)
						}
					}})
				if err != nil {
					t.Error(err)
					return
				}
				var late atomic.Int64 // tickets made after a renewal
				enough := wait.For(func() bool {
					var takers sync.WaitGroup
					for range 40 {
						takers.Go(func() {
							isLate := renewed.Load()
							id, err := tickets.Take()
							if err != nil { // on a busy machine, a lease may expire for a moment
								if !errors.Is(err, iderr.ErrFenced) && !errors.Is(err, lease.ErrLeaseExpired) {
									t.Error(err)
								}
								return
							}
							if isLate {
								late.Add(1)
							}
							mu.Lock()
							defer mu.Unlock()
							if made[id] {
								t.Errorf("%+v comes twice", id)
							}
							made[id] = true
						})
					}
					takers.Wait()
					return late.Load() >= 100
				})
				if !enough {
					t.Errorf("only %d tickets after a renewal", late.Load())
				}
				if err := held.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

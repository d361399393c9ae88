package lease_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
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
				held, err := lease.Start(t.Context(), store, tickets, lease.Config{
					Worker: lease.Number(worker), Window: 100 * time.Millisecond, First: 20 * time.Millisecond, Timeout: time.Second})
				if err != nil {
					t.Error(err)
					return
				}
				var takers sync.WaitGroup
				for end := time.Now().Add(60 * time.Millisecond); time.Now().Before(end); {
					for range 4 {
						takers.Go(func() {
							id, err := tickets.Take()
							if err != nil {
								if !errors.Is(err, iderr.ErrFenced) && !errors.Is(err, lease.ErrLeaseExpired) {
									t.Error(err)
								}
								return
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
				}
				if err := held.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if len(made) < 1000 {
		t.Errorf("only %d tickets", len(made))
	}
}

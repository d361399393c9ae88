//go:build !race

package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/engine/queue"
)

// A slow source has a word at every other try, after a pause.
type slow struct {
	pause time.Duration
	tries int
}

func (s *slow) Delayed() error { return nil }

func (s *slow) Try(int) (uint64, int, time.Duration, error) {
	if s.tries++; s.tries%2 == 1 {
		return 0, 0, s.pause, nil
	}
	return 1, 1, 0, nil
}

// Waiting allocates only what later waits use again, for the leader and for the others, however
// long the wait.
func TestAllocations(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, pause := range []time.Duration{time.Microsecond, time.Millisecond, 3 * time.Millisecond, time.Hour} {
		var q queue.Queue
		s := &slow{pause: pause}
		if got := testing.AllocsPerRun(20, func() {
			if _, _, err := q.Stand(ctx, 1, s); err != nil {
				t.Error(err)
			}
		}); got != 0 {
			t.Errorf("a wait of %v allocates %v times", pause, got)
		}
	}

	var q queue.Queue
	s := &slow{pause: 3 * time.Millisecond}
	const callers, each = 4, 50
	start, done := make(chan bool), make(chan error)
	for range callers {
		go func() {
			for range start {
				var err error
				for range each {
					if _, _, e := q.Stand(ctx, 1, s); e != nil {
						err = e
					}
				}
				done <- err
			}
		}()
	}
	if got := testing.AllocsPerRun(10, func() { // the first run makes what the other runs use
		for range callers {
			start <- true
		}
		for range callers {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}); got != 0 {
		t.Errorf("the waits of %d callers, %d each, allocate %v times", callers, each, got)
	}
	close(start)
}

package facts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/memlease"
)

// mostIDs is how many IDs each goroutine makes at most: a map of all IDs takes time.
const mostIDs = 25_000

// generator makes IDs in several goroutines, with a leased generator.
func (t *tester) generator(ctx context.Context, f *shape.Format) (cases int, err error) {
	g, err := f.New(shape.Recipe{Leased: true, Clock: t.clock})
	if err != nil {
		return 0, err
	}
	store := memlease.New()
	defer store.Close()
	const window = 2 * time.Minute // the machine may stand still
	held, err := lease.Start(ctx, store, g, lease.Config{Create: true, Window: window, First: window})
	if err != nil {
		return 0, err
	}
	defer func() {
		if bad := held.Close(); bad != nil && err == nil {
			err = bad
		}
	}()
	const least = 4 // goroutines
	runs := make([]run, max(least, runtime.GOMAXPROCS(0)))
	from := t.clock()
	soon, stop := context.WithTimeout(ctx, t.length)
	defer stop()
	var group sync.WaitGroup
	for i := range runs {
		made := g.Share()
		group.Go(func() { runs[i].make(ctx, soon, made, f.Size) })
	}
	group.Wait()
	return checkRuns(f, runs, held.Worker(), from, t.clock())
}

// A run is the IDs that a goroutine has made, in their order.
type run struct {
	ids []byte // in binary form
	err error
}

// make makes one batch of IDs, and more until the context soon ends.
func (r *run) make(ctx, soon context.Context, g shape.Generator, size int) {
	const batch = 100
	for len(r.ids) < mostIDs*size {
		var err error
		if r.ids, err = g.AppendBinary(ctx, r.ids, batch); err != nil {
			if soon.Err() == nil || ctx != soon {
				r.err = err
			}
			return
		}
		ctx = soon
	}
}

// checkRuns checks the IDs of all goroutines: no ID comes twice, and each ID has the worker and a time of the
// runs. The IDs of a goroutine ascend if the format promises order.
func checkRuns(f *shape.Format, runs []run, worker int, from, to time.Time) (cases int, err error) {
	s := f.Default()
	from = from.Add(-s.Unit) // the tick of from began before
	seen := make(map[string]bool)
	for _, r := range runs {
		if r.err != nil {
			return cases, r.err
		}
		var last []byte
		for ids := r.ids; len(ids) > 0; ids = ids[f.Size:] {
			id := ids[:f.Size]
			cases++
			switch at := s.Time(id); {
			case seen[string(id)]:
				return cases, fmt.Errorf("the generator made %x twice", id)
			case s.Worker > 0 && int(s.Fields[s.Worker].Of(id)) != worker:
				return cases, fmt.Errorf("the generator made %x, with worker %d, and has worker %d", id, s.Fields[s.Worker].Of(id), worker)
			case f.Ordered && bytes.Compare(id, last) <= 0:
				return cases, fmt.Errorf("the generator made %x after %x", id, last)
			case at.Before(from) || at.After(to.Add(time.Second)): // a generator may be some ticks ahead
				return cases, fmt.Errorf("the generator made %x, an ID of %s, at %s", id, at.Format(time.RFC3339Nano), from.Format(time.RFC3339Nano))
			}
			seen[string(id)] = true
			last = id
		}
	}
	if cases == 0 {
		return 0, errors.New("the generator made no ID")
	}
	return cases, nil
}

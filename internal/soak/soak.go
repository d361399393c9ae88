// Package soak draws IDs from one generator with many goroutines while its clock runs fast, slow
// and back, and looks for an ID issued twice or out of order. Only tests import it. Memory does not
// grow with the number of IDs:
//
//   - Each goroutine collects IDs for a round, and sees that its own increase.
//   - The rounds' ends are barriers. No call spans one, so every ID of a round must
//     be greater than all of the rounds before: duplicates can only be in one round.
//   - What the goroutines collected is merged. It is in order already, so equal IDs
//     meet.
//
// A run by hand, minutes a format:
//
//	go test ./internal/soak -run 'Soak$' -count=1 -timeout 2h -v -ids 1000000000
package soak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firn-id/firn/iderr"
)

// Source is a generator as one goroutine calls it. IDs are unsigned integers in the order of the
// IDs.
type Source interface {
	Next(ctx context.Context) (uint64, error)
	TryNext() (uint64, error)
	Fill(ctx context.Context, dst []uint64) (int, error)
}

// Events is how often the things happened that make a soak worth something.
type Events struct {
	Boundaries int64 // timestamps that have IDs
	Exhausted  int64 // calls of TryNext that found the tick spent
	Backwards  int64 // calls of TryNext that found the clock behind
	Steps      int64 // times that the clock went back
}

// reaches tells whether all of e are at least those of least.
func (e Events) reaches(least Events) bool {
	return e.Boundaries >= least.Boundaries && e.Exhausted >= least.Exhausted &&
		e.Backwards >= least.Backwards && e.Steps >= least.Steps
}

// Soak is one run. All fields but Progress must be set.
type Soak struct {
	Sources []Source // of one generator, one for each goroutine
	Clock   *Clock   // the generator's
	Shift   uint     // of the timestamp in an ID
	IDs     int64    // how many to draw

	// Least is what must have happened. The run goes on past IDs until it has, so that a small one
	// does not depend on luck; past Most IDs it gives up.
	Least Events
	Most  int64

	// Progress, if set, is called every 10^8 IDs.
	Progress func(ids int64)
}

// Violation is a broken promise of a generator.
type Violation struct {
	Kind      Kind
	ID, After uint64
}

// Kind is which promise is broken.
type Kind string

const (
	Duplicate Kind = "an ID was issued twice"
	Inversion Kind = "a goroutine's ID is not greater than its last"
	Late      Kind = "an ID is not greater than one of a call that had ended before"
)

func (v *Violation) Error() string {
	return fmt.Sprintf("%s: %#x after %#x", v.Kind, v.ID, v.After)
}

const (
	roundIDs    = 1 << 17 // that end a round, when one goroutine has them
	maxFill     = 64      // call of Fill
	progressIDs = 100_000_000
)

// Run draws the IDs. It returns how many they were and what happened, and every kind of Violation
// in the first round that has one.
func (s *Soak) Run(ctx context.Context) (ids int64, events Events, err error) {
	stop := s.Clock.start()
	defer stop()
	workers := make([]*worker, len(s.Sources))
	for i, source := range s.Sources {
		workers[i] = &worker{source: source, random: rand.NewPCG(uint64(i), 1), ids: make([]uint64, 0, roundIDs)}
	}
	var merged merge
	for {
		var full atomic.Bool
		var all sync.WaitGroup
		for _, w := range workers {
			all.Go(func() { w.collect(ctx, &full) })
		}
		all.Wait()

		events = Events{Steps: s.Clock.Back()}
		var violations []error
		for _, w := range workers {
			if w.err != nil {
				return ids, events, w.err
			}
			if w.inversion != nil {
				violations = append(violations, w.inversion)
				slices.Sort(w.ids) // so that duplicates are found all the same
			}
			events.Exhausted += w.exhausted
			events.Backwards += w.backwards
		}
		before := ids / progressIDs
		ids += merged.round(workers, s.Shift)
		events.Boundaries = merged.boundaries
		if err := errors.Join(append(violations, merged.violations...)...); err != nil {
			return ids, events, err
		}
		if ids >= s.IDs && events.reaches(s.Least) {
			return ids, events, nil
		}
		if ids >= s.Most {
			return ids, events, fmt.Errorf("after %d IDs %+v happened, not %+v", ids, events, s.Least)
		}
		if s.Progress != nil && ids/progressIDs > before {
			s.Progress(ids)
		}
	}
}

// worker is one goroutine's.
type worker struct {
	source Source
	random *rand.PCG
	last   uint64
	ids    []uint64 // of this round

	exhausted, backwards int64
	inversion            error
	err                  error // that no run should have
}

// collect draws IDs until it has a round of them, or another goroutine has. So all take part to the
// end, however unevenly they are scheduled.
func (w *worker) collect(ctx context.Context, full *atomic.Bool) {
	w.ids = w.ids[:0]
	for !full.Load() {
		if len(w.ids) > cap(w.ids)-maxFill {
			full.Store(true)
			return
		}
		begin := len(w.ids)
		if !w.draw(ctx) {
			full.Store(true)
			return
		}
		for _, id := range w.ids[begin:] {
			if id <= w.last && w.inversion == nil {
				w.inversion = &Violation{Inversion, id, w.last}
			}
			w.last = id
		}
	}
}

// draw makes one call, mostly of Next, and adds what it gives.
func (w *worker) draw(ctx context.Context) bool {
	var id uint64
	var err error
	switch r := w.random.Uint64(); {
	case r%128 == 0:
		begin := len(w.ids)
		end := begin + 1 + int(r>>32%maxFill)
		_, err = w.source.Fill(ctx, w.ids[begin:end])
		if err == nil {
			w.ids = w.ids[:end]
		}
		w.err = err
		return err == nil
	case r%8 == 1:
		id, err = w.source.TryNext()
		switch {
		case errors.Is(err, iderr.ErrExhausted):
			w.exhausted++
			return true
		case errors.Is(err, iderr.ErrClockBackwards):
			w.backwards++
			return true
		}
	default:
		id, err = w.source.Next(ctx)
	}
	if err != nil {
		w.err = err
		return false
	}
	w.ids = append(w.ids, id)
	return true
}

// merge goes through the IDs of all in their order.
type merge struct {
	last       uint64 // of the rounds before
	boundaries int64
	violations []error
}

// round merges what the workers have collected and returns how many IDs that is.
func (m *merge) round(workers []*worker, shift uint) (ids int64) {
	rest := make([][]uint64, 0, len(workers))
	for _, w := range workers {
		if len(w.ids) > 0 {
			ids += int64(len(w.ids))
			rest = append(rest, w.ids)
			if w.ids[0] <= m.last {
				m.violations = append(m.violations, &Violation{Late, w.ids[0], m.last})
			}
		}
	}
	var duplicate bool
	before := m.last
	for len(rest) > 0 {
		// Take all from the buffer with the smallest head that is below the heads of the others:
		// runs of them are long, as goroutines run for a while at a time.
		first, others := 0, uint64(math.MaxUint64)
		for i := 1; i < len(rest); i++ {
			if rest[i][0] < rest[first][0] {
				first, others = i, rest[first][0]
			} else {
				others = min(others, rest[i][0])
			}
		}
		buffer := rest[first]
		n := 0
		for n < len(buffer) && (n == 0 || buffer[n] < others) {
			id := buffer[n]
			if id == before && !duplicate {
				duplicate = true
				m.violations = append(m.violations, &Violation{Duplicate, id, before})
			}
			if id>>shift != before>>shift {
				m.boundaries++
			}
			before = id
			n++
		}
		rest[first] = buffer[n:]
		if n == len(buffer) {
			rest = slices.Delete(rest, first, first+1)
		}
	}
	m.last = max(m.last, before)
	return ids
}

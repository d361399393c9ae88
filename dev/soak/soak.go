// Package soak draws IDs from one generator with many goroutines while the clock runs fast, slow
// and back. It looks for IDs issued twice or out of order. Only tests import this package. Memory
// does not grow with the number of IDs:
//
//   - Each goroutine collects IDs for a round, and checks the order of its own IDs.
//   - No call spans the end of a round. Every ID of a round must therefore be greater than all IDs
//     of the rounds before, and duplicates can only be in the same round.
//   - Run sorts the IDs of a round, and finds equal IDs side by side.
//   - The IDs of sno go back with the clock. A Ledger finds their duplicates.
//
// A run by hand takes minutes a format:
//
//	go test -C dev ./soak -run 'Soak$' -count=1 -timeout 2h -v -ids 1000000000
package soak

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firn-id/firn/iderr"
)

// Source is a generator for one goroutine. IDs are unsigned integers, in the order of the IDs.
type Source interface {
	Next(ctx context.Context) (uint64, error)
	TryNext() (uint64, error)
	Fill(ctx context.Context, dst []uint64) (int, error)
}

// Events counts the events that a soak must meet.
type Events struct {
	Boundaries int64 // timestamps with IDs
	Exhausted  int64 // calls of TryNext in an exhausted tick
	Backwards  int64 // calls of TryNext with the clock behind
	Steps      int64 // times that the clock went back
}

// reaches reports whether each count of e is at least the count of least.
func (e Events) reaches(least Events) bool {
	return e.Boundaries >= least.Boundaries && e.Exhausted >= least.Exhausted &&
		e.Backwards >= least.Backwards && e.Steps >= least.Steps
}

// Soak is the configuration of a run. All fields except Ledger, Try, Round and Progress must be set.
type Soak struct {
	Sources []Source // one generator, as a Source for each goroutine
	Clock   *Clock   // the generator's clock
	Shift   uint     // of the timestamp in an ID
	Ledger  *Ledger  // finds duplicates if IDs need not increase; otherwise nil
	IDs     int64    // how many to draw
	Try     uint64   // one call in so many is of TryNext; 0 for 8
	Round   int      // a round ends when a goroutine has this number; 0 for roundIDs

	// Least is the events that the run must meet. The run continues past IDs until it has met these
	// events, so a short run does not depend on luck. The run fails after Most IDs.
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

// Kind names a broken promise.
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
	roundIDs    = 1 << 17 // a round ends when a goroutine has this number
	maxFill     = 64      // most IDs of a call of Fill
	progressIDs = 100_000_000
)

// Run draws the IDs. It returns the number of IDs and the events. The error has every kind of
// Violation in the first round with a Violation.
func (s *Soak) Run(ctx context.Context) (ids int64, events Events, err error) {
	stop := s.Clock.start()
	defer stop()
	workers := make([]*worker, len(s.Sources))
	for i, source := range s.Sources {
		workers[i] = &worker{source: source, random: rand.NewPCG(uint64(i), 1), try: cmp.Or(s.Try, 8), ids: make([]uint64, 0, cmp.Or(s.Round, roundIDs))}
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
			if w.inversion != nil && s.Ledger == nil {
				violations = append(violations, w.inversion)
			}
			events.Exhausted += w.exhausted
			events.Backwards += w.backwards
		}
		before := ids / progressIDs
		if s.Ledger != nil {
			drawn, twice := s.Ledger.round(workers, s.Clock.floor())
			ids, violations, events.Boundaries = ids+drawn, twice, s.Ledger.begun
		} else {
			ids += merged.round(workers, s.Shift)
			violations, events.Boundaries = append(violations, merged.violations...), merged.boundaries
		}
		if err := errors.Join(violations...); err != nil {
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

// worker is the state of a goroutine.
type worker struct {
	source Source
	random *rand.PCG
	try    uint64
	last   uint64
	ids    []uint64 // of this round

	exhausted, backwards int64
	inversion            error
	err                  error // any other error
}

// collect draws IDs until this goroutine or another goroutine has a full round. All goroutines
// therefore take part to the end, however unevenly the goroutines are scheduled.
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

// draw makes one call, mostly of Next, and adds the IDs.
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
	case r%w.try == 1:
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

// merge goes through the IDs of all workers in order.
type merge struct {
	ids        []uint64 // of this round
	last       uint64   // the last ID of the rounds before
	boundaries int64
	violations []error
}

// round sorts the IDs of the workers, checks them, and returns their number.
func (m *merge) round(workers []*worker, shift uint) int64 {
	m.ids = m.ids[:0]
	for _, w := range workers {
		m.ids = append(m.ids, w.ids...)
	}
	slices.Sort(m.ids)
	if len(m.ids) > 0 && m.ids[0] <= m.last {
		m.violations = append(m.violations, &Violation{Late, m.ids[0], m.last})
	}
	duplicate := false
	before := m.last
	for _, id := range m.ids {
		if id == before && !duplicate {
			duplicate = true
			m.violations = append(m.violations, &Violation{Duplicate, id, before})
		}
		if id>>shift != before>>shift {
			m.boundaries++
		}
		before = id
	}
	m.last = max(m.last, before)
	return int64(len(m.ids))
}

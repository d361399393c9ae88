package soak

import (
	"fmt"
	"time"
)

// A Ledger finds duplicates of a generator whose IDs go back with the clock. The ledger has a bit for each ID
// of the times that the clock can still show, and refuses IDs of earlier times. It is therefore exact, in
// memory that does not grow with the number of IDs.
type Ledger struct {
	first func(time.Time) uint64 // the first ID of a time
	ticks map[uint64]*issued     // by the bits of an ID above the lowest 16
	spare []*issued
	floor uint64 // the first tick that may come
	begun int64  // the number of ticks with IDs
}

type issued [1 << 16 / 64]uint64

// NewLedger returns a ledger. first returns the first ID of a time, whose lowest 16 bits are 0.
func NewLedger(first func(time.Time) uint64) *Ledger {
	return &Ledger{first: first, ticks: make(map[uint64]*issued)}
}

// enter enters IDs, and returns the first violation.
func (l *Ledger) enter(ids []uint64) error {
	var current *issued
	tick := ^uint64(0)
	for _, id := range ids {
		if id>>16 != tick {
			if tick = id >> 16; tick < l.floor {
				return fmt.Errorf("%#x is of a time before all that the clock showed", id)
			}
			current = l.of(tick)
		}
		word, bit := &current[id>>6&1023], uint64(1)<<(id&63)
		if *word&bit != 0 {
			return &Violation{Duplicate, id, id}
		}
		*word |= bit
	}
	return nil
}

// of returns the issued IDs of a tick.
func (l *Ledger) of(tick uint64) *issued {
	ids := l.ticks[tick]
	if ids != nil {
		return ids
	}
	if n := len(l.spare); n > 0 {
		ids, l.spare = l.spare[n-1], l.spare[:n-1]
		clear(ids[:])
	} else {
		ids = new(issued)
	}
	l.ticks[tick] = ids
	l.begun++
	return ids
}

// forget removes the ticks before floor.
func (l *Ledger) forget(floor time.Time) {
	l.floor = l.first(floor) >> 16
	for tick, ids := range l.ticks {
		if tick < l.floor {
			delete(l.ticks, tick)
			l.spare = append(l.spare, ids)
		}
	}
}

// round enters the IDs of the workers, and returns their number.
func (l *Ledger) round(workers []*worker, floor time.Time) (ids int64, violations []error) {
	for _, w := range workers {
		ids += int64(len(w.ids))
		if err := l.enter(w.ids); err != nil {
			violations = append(violations, err)
		}
	}
	l.forget(floor)
	return ids, violations
}

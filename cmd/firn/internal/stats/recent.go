package stats

import (
	"math"
	"math/bits"
)

// A slot counts the IDs of one worker in one tick. A slot without IDs is free.
type slot struct{ tick, worker, ids uint64 }

// moved is the number of IDs of a slot that has moved from one table to another.
const moved = math.MaxUint64

// A table is a hash table of slots, with open addressing. Its size is a power of two.
type table struct {
	slots []slot
	used  int
}

// neighbours is how many ticks of a worker stand side by side in a table: the processor's cache then
// serves IDs in the order of time.
const neighbours = 4

// at returns the slot of a worker in a tick, or the free slot where it belongs.
func (t *table) at(tick, worker uint64) *slot {
	high, low := bits.Mul64(tick/neighbours^bits.RotateLeft64(worker, 48), 0x9e3779b97f4a7c15)
	for i := (high^low)*neighbours + tick%neighbours; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.ids == 0 || s.tick == tick && s.worker == worker {
			return s
		}
	}
}

// full reports whether one slot more would make the table slow.
func (t *table) full() bool { return t.used >= len(t.slots)/4*3 }

// grow doubles the table.
func (t *table) grow() {
	small := t.slots
	t.slots = make([]slot, 2*len(small))
	for _, s := range small {
		if s.ids > 0 {
			*t.at(s.tick, s.worker) = s
		}
	}
}

// A recent counts the IDs of each worker in each tick, in bounded memory: slots end that no ID has come
// to for long. IDs of a tick come near each other in most input. A tick whose IDs come far apart has
// several slots, one after another.
type recent struct {
	end   func(slot) // called for each slot that ends
	most  int        // slots of a table
	young table      // the slots that IDs have come to
	old   table      // the young slots of before; they end when the young table is full again
}

// leastSlots is the size of a new table.
const leastSlots = 1 << 10

// newRecent returns a recent of two tables of up to so many slots, a power of two.
func newRecent(most int, end func(slot)) *recent {
	return &recent{end: end, most: most, young: table{slots: make([]slot, min(leastSlots, most))}}
}

// at returns the slot of a worker in a tick. The caller adds IDs to the slot before the next call. begins
// reports whether the slot is new.
func (r *recent) at(tick, worker uint64) (s *slot, begins bool) {
	s = r.young.at(tick, worker)
	if s.ids > 0 {
		return s, false
	}
	if r.young.full() {
		r.makeRoom()
		s = r.young.at(tick, worker)
	}
	r.young.used++
	*s = slot{tick: tick, worker: worker}
	if r.old.used > 0 {
		if before := r.old.at(tick, worker); before.ids > 0 {
			s.ids, before.ids = before.ids, moved
			return s, false
		}
	}
	return s, true
}

// makeRoom grows the young table. At its full size the old slots end, and the young slots are old.
func (r *recent) makeRoom() {
	if len(r.young.slots) < r.most {
		r.young.grow()
		return
	}
	r.endAll(&r.old)
	if r.old.slots == nil {
		r.old.slots = make([]slot, r.most)
	}
	r.young, r.old = r.old, r.young
}

// endAll ends the slots of a table.
func (r *recent) endAll(t *table) {
	for _, s := range t.slots {
		if s.ids > 0 && s.ids != moved {
			r.end(s)
		}
	}
	clear(t.slots)
	t.used = 0
}

// close ends all slots.
func (r *recent) close() {
	r.endAll(&r.old)
	r.endAll(&r.young)
}

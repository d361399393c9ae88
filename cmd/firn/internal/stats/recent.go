package stats

import (
	"math"
	"math/bits"
)

// A slot counts the IDs of one worker in one tick. Slots are small, since there are many.
type slot struct {
	tick   uint64
	worker uint32
	ids    uint32
}

// A table has slots in the order of their beginning. A hash table with open addressing finds a slot.
type table struct {
	slots []slot

	// index has the places of slots in slots, each plus 1 and below some bits of the slot's hash. 0 is free. At
	// most half of the index is in use, and its size is a power of two. As long as IDs come in the order of
	// time, nobody looks for a slot: the index then stays behind, or nil.
	index   []uint32
	indexed int // slots in the index
}

const (
	placeBits = 21
	mostSlots = 1 << (placeBits - 1) // of a table
)

// newTable returns a table for so many slots, a power of two up to mostSlots.
func newTable(slots int) table { return table{slots: make([]slot, 0, slots)} }

// hashOf returns a hash of a worker in a tick.
func hashOf(tick uint64, worker uint32) uint64 {
	high, low := bits.Mul64(tick^uint64(worker)<<48^uint64(worker)>>16, 0x9e3779b97f4a7c15)
	return high ^ low
}

// tag returns the bits of a hash that are in the index.
func tag(hash uint64) uint32 { return uint32(hash>>(64-(32-placeBits))) << placeBits }

// find returns the place of the slot of a worker in a tick. ok reports whether the table has the slot.
func (t *table) find(tick uint64, worker uint32) (place int, ok bool) {
	t.catchUp()
	hash := hashOf(tick, worker)
	for i := hash; len(t.slots) > 0; i++ {
		e := t.index[i&uint64(len(t.index)-1)]
		if e == 0 {
			break
		}
		if e>>placeBits<<placeBits == tag(hash) {
			place := int(e&(1<<placeBits-1)) - 1
			if s := t.slots[place]; s.tick == tick && s.worker == worker {
				return place, true
			}
		}
	}
	return 0, false
}

// catchUp adds all slots to the index.
func (t *table) catchUp() {
	if t.indexed == len(t.slots) {
		return
	}
	if t.index == nil {
		t.index = make([]uint32, 2*cap(t.slots))
	}
	for ; t.indexed < len(t.slots); t.indexed++ {
		s := t.slots[t.indexed]
		hash := hashOf(s.tick, s.worker)
		i := hash
		for t.index[i&uint64(len(t.index)-1)] != 0 {
			i++
		}
		t.index[i&uint64(len(t.index)-1)] = tag(hash) | uint32(t.indexed+1)
	}
}

// full reports whether the table has no room for another slot.
func (t *table) full() bool { return len(t.slots) == cap(t.slots) }

// grow doubles the table. The places of slots stay.
func (t *table) grow() {
	larger := newTable(2 * cap(t.slots))
	larger.slots = append(larger.slots, t.slots...)
	*t = larger
}

// empty removes all slots.
func (t *table) empty() {
	t.slots = t.slots[:0]
	if t.indexed > 0 {
		clear(t.index)
		t.indexed = 0
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
	round uint32     // how often the young table has begun anew, from 1

	workers byWorker

	// split is how many slots began after a later tick of their worker had ended. A slot of their tick may
	// have ended, too.
	split uint64
}

// A worker is what a recent knows of a worker.
type worker struct {
	ids   uint64 // of slots that have ended
	ended uint64 // 1 + the latest tick of these slots
	next  uint64 // 1 + the latest tick

	tick  uint64 // of the ID before
	place uint32 // of its slot in the young table, in this round
	round uint32
}

// leastSlots is the size of a new table.
const leastSlots = 1 << 10

// newRecent returns a recent of two tables of up to so many slots, a power of two up to mostSlots. Worker
// numbers are below workers.
func newRecent(most, workers int, end func(slot)) *recent {
	return &recent{end: end, most: most, young: newTable(min(leastSlots, most)), round: 1, workers: newByWorker(workers)}
}

// add counts IDs of a worker in a tick.
func (r *recent) add(tick uint64, number, ids uint32) {
	w := r.workers.at(number)
	if w.tick != tick || w.round != r.round {
		r.turn(w, tick, number)
	}
	s := &r.young.slots[w.place]
	if s.ids > math.MaxUint32-ids {
		r.endSlot(*s)
		s.ids = 0
		r.split++
	}
	s.ids += ids
}

// turn makes the slot of a tick that of the worker's ID before.
func (r *recent) turn(w *worker, tick uint64, number uint32) {
	place, found := 0, false
	later := tick >= w.next // than each tick of the worker: there is no slot
	if !later {
		place, found = r.young.find(tick, number)
	}
	if !found {
		if r.young.full() {
			r.makeRoom()
		}
		place = len(r.young.slots)
		r.young.slots = append(r.young.slots, r.begin(w, tick, number, later))
	}
	w.tick, w.place, w.round, w.next = tick, uint32(place), r.round, max(w.next, tick+1)
}

// begin returns a slot for the young table: a new one, or one of the old table.
func (r *recent) begin(w *worker, tick uint64, number uint32, later bool) slot {
	s := slot{tick: tick, worker: number}
	if later {
		return s
	}
	if place, ok := r.old.find(tick, number); ok {
		old := &r.old.slots[place]
		s.ids, old.ids = old.ids, 0
	}
	if s.ids == 0 && tick < w.ended {
		r.split++
	}
	return s
}

// makeRoom grows the young table. At its full size the old slots end, and the young slots are old.
func (r *recent) makeRoom() {
	if cap(r.young.slots) < r.most {
		r.young.grow()
		return
	}
	r.endAll(&r.old)
	if r.old.slots == nil {
		r.old = newTable(r.most)
	}
	r.young, r.old = r.old, r.young
	r.round++
}

// endAll ends the slots of a table.
func (r *recent) endAll(t *table) {
	for _, s := range t.slots {
		if s.ids > 0 {
			r.endSlot(s)
		}
	}
	t.empty()
}

func (r *recent) endSlot(s slot) {
	w := r.workers.at(s.worker)
	w.ids += uint64(s.ids)
	w.ended = max(w.ended, s.tick+1)
	r.end(s)
}

// close ends all slots.
func (r *recent) close() {
	r.endAll(&r.old)
	r.endAll(&r.young)
	r.round++
}

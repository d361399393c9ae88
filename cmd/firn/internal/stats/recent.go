package stats

import (
	"cmp"
	"maps"
	"slices"
)

// A place is one worker in one tick.
type place struct {
	tick   uint64
	worker uint32
}

// A slot counts the IDs of one worker in one tick.
type slot struct {
	place
	ids uint64
}

// A recent counts the IDs of each worker in each tick, in bounded memory: slots end that no ID has come
// to for long. IDs of a tick come near each other in most input. A tick whose IDs come far apart has
// several slots, one after another.
type recent struct {
	end   func(slot)      // called for each slot that ends
	most  int             // young slots
	young map[place]*slot // the slots that IDs have come to
	old   map[place]*slot // the young slots of before; they end when the young are many again
	last  *slot           // of the ID before

	workers map[uint32]*worker

	// split is how many slots began after a later tick of their worker had ended. A slot of their tick may
	// have ended, too.
	split uint64
}

// A worker is what a recent knows of the slots of a worker that have ended.
type worker struct {
	ids   uint64
	ended uint64 // 1 + the latest tick
}

// newRecent returns a recent of up to twice so many slots.
func newRecent(most int, end func(slot)) *recent {
	return &recent{
		end: end, most: most,
		young: make(map[place]*slot), old: make(map[place]*slot),
		workers: make(map[uint32]*worker),
	}
}

// add counts IDs of a worker in a tick.
func (r *recent) add(tick uint64, worker uint32, ids uint64) {
	if p := (place{tick, worker}); r.last == nil || r.last.place != p {
		r.last = r.find(p)
	}
	r.last.ids += ids
}

// find returns a slot, which is young from now on: one that there is, or a new one.
func (r *recent) find(p place) *slot {
	if s := r.young[p]; s != nil {
		return s
	}
	if len(r.young) == r.most {
		r.endOld()
		r.young, r.old = r.old, r.young
	}
	s := r.old[p]
	if s == nil {
		s = &slot{place: p}
		if w := r.workers[p.worker]; w != nil && p.tick < w.ended {
			r.split++
		}
	}
	delete(r.old, p)
	r.young[p] = s
	return s
}

// endOld ends the old slots, in the order of time.
func (r *recent) endOld() {
	for _, s := range slices.SortedFunc(maps.Values(r.old), func(a, b *slot) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.worker, b.worker))
	}) {
		w := r.workers[s.worker]
		if w == nil {
			w = new(worker)
			r.workers[s.worker] = w
		}
		w.ids += s.ids
		w.ended = max(w.ended, s.tick+1)
		r.end(*s)
	}
	clear(r.old)
}

// close ends all slots.
func (r *recent) close() {
	r.endOld()
	r.young, r.old, r.last = r.old, r.young, nil
	r.endOld()
}

// A rank is a worker and its IDs.
type rank struct {
	Worker uint32 `json:"worker"`
	IDs    uint64 `json:"ids"`
}

// ranking returns the workers, those with the most IDs first.
func (r *recent) ranking() (all []rank) {
	for number, w := range r.workers {
		all = append(all, rank{number, w.ids})
	}
	slices.SortFunc(all, func(a, b rank) int {
		return cmp.Or(cmp.Compare(b.IDs, a.IDs), cmp.Compare(a.Worker, b.Worker))
	})
	return all
}

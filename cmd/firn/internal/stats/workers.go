package stats

import (
	"cmp"
	"slices"
)

// byWorker has the workers by their numbers.
type byWorker struct {
	few  []worker // of the smaller numbers
	many map[uint32]*worker
}

// mostFew is more workers than any format has today.
const mostFew = 1 << 20

// newByWorker returns workers whose numbers are below n.
func newByWorker(n int) byWorker {
	return byWorker{few: make([]worker, min(n, mostFew)), many: make(map[uint32]*worker)}
}

// at returns the worker of a number.
func (b *byWorker) at(number uint32) *worker {
	if int64(number) < int64(len(b.few)) {
		return &b.few[number]
	}
	w := b.many[number]
	if w == nil {
		w = new(worker)
		b.many[number] = w
	}
	return w
}

// A rank is a worker and its IDs.
type rank struct {
	Worker uint32 `json:"worker"`
	IDs    uint64 `json:"ids"`
}

// ranking returns the workers that have IDs, those with the most IDs first.
func (b *byWorker) ranking() (all []rank) {
	for number, w := range b.few {
		if w.ids > 0 {
			all = append(all, rank{uint32(number), w.ids})
		}
	}
	for number, w := range b.many {
		all = append(all, rank{number, w.ids})
	}
	slices.SortFunc(all, func(a, b rank) int {
		return cmp.Or(cmp.Compare(b.IDs, a.IDs), cmp.Compare(a.Worker, b.Worker))
	})
	return all
}

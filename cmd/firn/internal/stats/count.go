package stats

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/firn-id/firn/internal/shape"
)

// A counter counts the IDs of a format, in memory of bounded size.
//
// Only the slots of ticks and the partitions are on the way of every ID. Everything else counts the slots
// that end.
type counter struct {
	shape shape.Shape
	time  shape.Field
	micro shape.Field // 0 bits without microseconds
	from  shape.Field // the worker; 0 bits without workers

	latest *slot   // of the ID before
	ticks  *recent // IDs of a worker in a tick
	spread *spread

	ids         uint64
	first, last uint64 // ticks
	line        timeline
	workers     map[uint64]*worker
	others      worker // workers beyond the most that are counted

	fullest slot // the tick of a worker with the most IDs
	fill    fill

	seconds      *recent // IDs in a second, by seconds after the epoch
	endedSeconds uint64  // 1 + the latest second that has ended
	busiest      slot    // the second with the most IDs
	rates        *sample

	// lateTicks are ticks that began after a later tick of their worker had ended. Their first IDs may have
	// ended, too. lateSeconds is the same for seconds.
	lateTicks, lateSeconds uint64
}

// A worker is what a counter knows of a worker.
type worker struct {
	number, ids uint64
	ended       uint64 // 1 + the latest tick that has ended
}

const (
	mostTicks   = 1 << 20 // slots of a table
	mostSeconds = 1 << 19
	mostWorkers = 1 << 18
)

// newCounter returns a counter of IDs of a shape, which counts the IDs in a number of partitions, a power of two.
func newCounter(s shape.Shape, partitions int) *counter {
	c := &counter{shape: s, time: s.Fields[0], latest: new(slot), spread: newSpread(partitions), workers: make(map[uint64]*worker), first: ^uint64(0),
		rates: newSample(), fill: newFill(s.Capacity())}
	if s.Micro > 0 {
		c.micro = s.Fields[s.Micro]
	}
	if s.Worker > 0 {
		c.from = s.Fields[s.Worker]
	}
	c.ticks = newRecent(mostTicks, c.endTick)
	c.seconds = newRecent(mostSeconds, c.endSecond)
	return c
}

// add counts an ID in its binary form.
func (c *counter) add(id []byte) {
	tick, worker := c.time.Of(id), c.from.Of(id)
	if c.micro.Bits > 0 {
		tick = tick<<c.micro.Bits | c.micro.Of(id)
	}
	if s := c.latest; s.tick != tick || s.worker != worker || s.ids == 0 {
		var begins bool
		c.latest, begins = c.ticks.at(tick, worker)
		if begins && tick < c.worker(worker).ended {
			c.lateTicks++
		}
	}
	c.latest.ids++
	c.ids++
	c.spread.add(id)
}

// worker returns what is known of a worker.
func (c *counter) worker(number uint64) *worker {
	w := c.workers[number]
	switch {
	case w != nil:
		return w
	case len(c.workers) >= mostWorkers:
		return &c.others
	}
	w = &worker{number: number}
	c.workers[number] = w
	return w
}

// endTick counts the IDs of a worker in a tick.
func (c *counter) endTick(s slot) {
	c.first, c.last = min(c.first, s.tick), max(c.last, s.tick)
	w := c.worker(s.worker)
	w.ids += s.ids
	w.ended = max(w.ended, s.tick+1)
	c.fill.add(s.ids)
	c.fullest = larger(c.fullest, s)
	ms := c.milli(s.tick)
	c.line.add(ms, s.ids)
	number := uint64(ms-c.epoch()) / second
	second, begins := c.seconds.at(number, 0)
	if begins && number < c.endedSeconds {
		c.lateSeconds++
	}
	second.ids += s.ids
}

// endSecond counts the IDs of a second.
func (c *counter) endSecond(s slot) {
	c.endedSeconds = max(c.endedSeconds, s.tick+1)
	c.busiest = larger(c.busiest, s)
	c.rates.add(s.ids)
}

// larger returns the slot with more IDs; of equal slots the earlier one, and of one tick that of the smaller
// worker. The order of the ends therefore does not matter.
func larger(a, b slot) slot {
	if cmp.Or(cmp.Compare(a.ids, b.ids), cmp.Compare(b.tick, a.tick), cmp.Compare(b.worker, a.worker)) >= 0 {
		return a
	}
	return b
}

// milli returns the time of a tick in Unix milliseconds.
func (c *counter) milli(tick uint64) int64 {
	return c.shape.Epoch + int64(tick>>c.micro.Bits)*c.shape.Unit.Milliseconds()
}

// tickTime returns the time of a tick.
func (c *counter) tickTime(tick uint64) time.Time {
	micros := tick & (1<<c.micro.Bits - 1)
	return time.UnixMilli(c.milli(tick)).Add(time.Duration(micros) * time.Microsecond).UTC()
}

// tickLength returns the time from a tick to the next.
func (c *counter) tickLength() time.Duration {
	if c.micro.Bits > 0 {
		return time.Microsecond
	}
	return c.shape.Unit
}

// epoch returns the last whole second before the epoch of the IDs, in Unix milliseconds.
func (c *counter) epoch() int64 { return c.shape.Epoch - floorMod(c.shape.Epoch, second) }

// secondTime returns the beginning of a second.
func (c *counter) secondTime(s uint64) time.Time {
	return time.UnixMilli(c.epoch() + int64(s)*second).UTC()
}

// close ends the count.
func (c *counter) close() {
	c.ticks.close()
	c.seconds.close()
}

// ranking returns the workers with the most IDs first.
func (c *counter) ranking() []*worker {
	return slices.SortedFunc(maps.Values(c.workers), func(a, b *worker) int {
		return cmp.Or(cmp.Compare(b.ids, a.ids), cmp.Compare(a.number, b.number))
	})
}

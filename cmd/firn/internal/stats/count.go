package stats

import (
	"cmp"
	"math"
	"time"

	"github.com/firn-id/firn/internal/shape"
)

// A counter counts the IDs of a format, in memory of bounded size.
//
// Only the slots of ticks are on the way of every ID. Everything else counts the slots that end.
type counter struct {
	shape shape.Shape
	time  shape.Field
	micro shape.Field // 0 bits without microseconds
	from  shape.Field // the worker; 0 bits without workers

	ids   uint64
	ticks *recent // IDs of a worker in a tick

	first, last uint64 // ticks
	fullest     slot   // the tick of a worker with the most IDs
	fill        fill
	line        timeline

	seconds *recent // IDs in a second, by seconds after the epoch
	busiest slot    // the second with the most IDs
	rates   *sample // IDs of seconds
}

// mostSlots is how many slots of ticks and of seconds end last: twice as many are counted right in any order.
const mostSlots = 1 << 18

// newCounter returns a counter of IDs of a shape.
func newCounter(s shape.Shape) *counter {
	c := &counter{shape: s, time: s.Fields[0], first: math.MaxUint64, rates: newSample(), fill: newFill(s.Capacity())}
	if s.Micro > 0 {
		c.micro = s.Fields[s.Micro]
	}
	if s.Worker > 0 {
		c.from = s.Fields[s.Worker]
	}
	c.bound(mostSlots, mostSlots)
	return c
}

// bound sets the most slots of ticks and of seconds.
func (c *counter) bound(ticks, seconds int) {
	c.ticks = newRecent(ticks, c.endTick)
	c.seconds = newRecent(seconds, func(s slot) {
		c.busiest = larger(c.busiest, s)
		c.rates.add(s.ids)
	})
}

// add counts an ID in its binary form.
func (c *counter) add(id []byte) {
	tick := c.time.Of(id)
	if c.micro.Bits > 0 {
		tick = tick<<c.micro.Bits | c.micro.Of(id)
	}
	c.ticks.add(tick, uint32(c.from.Of(id)), 1)
	c.ids++
}

// endTick counts the IDs of a worker in a tick.
func (c *counter) endTick(s slot) {
	c.first, c.last = min(c.first, s.tick), max(c.last, s.tick)
	c.fullest = larger(c.fullest, s)
	c.fill.add(s.ids)
	ms := c.milli(s.tick)
	c.line.add(ms, s.ids)
	c.seconds.add(uint64(ms-c.epoch())/second, 0, s.ids)
}

// larger returns the slot with more IDs. Of slots with equal IDs, larger returns the earlier slot, and in one tick
// the slot of the smaller worker: the order of the ends does not matter.
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

package sno

import "time"

// SequenceOverflowNotification contains information on the state of a Generator while
// it is overflowing: calls wait for the next time unit because the sequence pool of this
// one is used up.
type SequenceOverflowNotification struct {
	Now   time.Time // Time of tick.
	Count uint32    // Number of currently overflowing generation calls.
	Ticks uint32    // Total count of ticks, of about 1 ms, while dealing with the *current* overflow.
}

// overflow tells a channel about time units in which calls had to wait. Only the caller
// who leads the line uses it, which makes one notification a unit without a lock.
type overflow struct {
	notify chan<- *SequenceOverflowNotification
	unit   uint64    // the last one with an overflow
	line   uint64    // the line that formed then
	since  time.Time // when the current overflow began
}

// report is called when calls overflow in a time unit, count of them so far, in a line
// that was the how-manieth to form. An overflow ends when nobody waits and a unit goes by
// without another. The channel is never waited for: a receiver who is not ready misses
// the notification.
func (o *overflow) report(now time.Time, unit uint64, count int, line uint64) {
	if o.notify == nil || unit == o.unit {
		return
	}
	if unit != o.unit+1 && line != o.line {
		o.since = now
	}
	o.unit, o.line = unit, line
	n := &SequenceOverflowNotification{
		Now:   now,
		Count: uint32(count),
		Ticks: uint32(max(now.Sub(o.since), 0)/time.Millisecond) + 1,
	}
	o.send(n)
}

// send sends the notification to a receiver who is ready. A channel that the program has closed
// gets no more of them.
func (o *overflow) send(n *SequenceOverflowNotification) {
	defer func() {
		if recover() != nil { // a send on a closed channel panics, and nothing else here does
			o.notify = nil
		}
	}()
	select {
	case o.notify <- n:
	default:
	}
}

package sno

import "time"

// SequenceOverflowNotification contains information on the state of an overflowing Generator: calls
// wait for the next time unit because the sequence pool of this unit is used up.
type SequenceOverflowNotification struct {
	Now   time.Time // Time of tick.
	Count uint32    // Number of currently overflowing generation calls.
	Ticks uint32    // Total count of ticks, of about 1 ms, while dealing with the *current* overflow.
}

// overflow notifies a channel of time units in which calls wait. Only the leader of the queue uses
// an overflow: each unit has one notification, without a lock.
type overflow struct {
	notify chan<- *SequenceOverflowNotification
	unit   uint64    // the last unit with an overflow
	queue  uint64    // the number of the queue of that unit
	since  time.Time // when the current overflow began
}

// report notes that count calls wait in a time unit, in the queue of the given number. An overflow
// ends once no call waits and a unit goes by without waiters. report never waits for the channel: a
// receiver misses the notification unless ready.
func (o *overflow) report(now time.Time, unit uint64, count int, queue uint64) {
	if o.notify == nil || unit == o.unit {
		return
	}
	if unit != o.unit+1 && queue != o.queue {
		o.since = now
	}
	o.unit, o.queue = unit, queue
	n := &SequenceOverflowNotification{
		Now:   now,
		Count: uint32(count),
		Ticks: uint32(max(now.Sub(o.since), 0)/time.Millisecond) + 1,
	}
	o.send(n)
}

// send sends the notification to a ready receiver. A closed channel gets no more notifications.
func (o *overflow) send(n *SequenceOverflowNotification) {
	defer func() {
		if recover() != nil { // only a send on a closed channel panics here
			o.notify = nil
		}
	}()
	select {
	case o.notify <- n:
	default:
	}
}

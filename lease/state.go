package lease

import (
	"time"
)

// adopt allots the times of a record that is the lease's to the generator.
func (l *Lease) adopt(got stored, kind EventKind) error {
	if kind == Acquired {
		l.since = got.From
	}
	if kind == Acquired || got.From > l.allotted {
		l.begins = got.From
	}
	l.held, l.lost, l.expired, l.waiting = got, nil, false, ""
	l.allotted, l.least = got.Until, got.Until
	window := l.config.Window.Microseconds()
	l.window = min(max(got.Until-max(l.now(), l.own()), window/10), window) // it may be over already
	clear(l.attempts)
	from, until := time.UnixMicro(got.From).UTC(), time.UnixMicro(got.Until).UTC()
	l.mu.Lock()
	l.worker, l.until = got.Worker, until
	if l.left() > 0 { // the store may have answered too late
		l.trouble = nil
	}
	l.mu.Unlock()
	// Whoever writes the events down has them before any ID of these times.
	l.notify(Event{Kind: kind, Worker: got.Worker, From: from, Until: until})
	if l.closed {
		return nil
	}
	return l.generator.Allot(got.Worker, from, until)
}

// ends returns where the times end that the generator can mint in. For a generator that has none at
// all, ends returns now.
func (l *Lease) ends() int64 { return max(l.allotted, min(l.since, l.now())) }

// left returns for how long the generator can mint.
func (l *Lease) left() time.Duration { return time.UnixMicro(l.ends()).Sub(l.config.world.now()) }

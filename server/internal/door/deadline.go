package door

import (
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A deadline is the deadline of one direction of a connection. net/http moves deadlines five times for each request, which
// takes about as long as the handler of one ID. So a move only notes the deadline, and the sweep of the [Door] looks at
// each connection every second: a deadline ends a read or a write up to a second late. A deadline that is now, or nearly,
// is the connection's own at once: net/http ends its reads by such deadlines.
type deadline struct {
	set  func(time.Time) error // of the connection
	last *atomic.Int64         // the time of the last sweep, in Unix nanoseconds: reading the clock takes longer than the rest

	mu   sync.Mutex
	want int64 // the noted deadline in Unix nanoseconds
	own  bool  // the connection has a deadline of its own
}

const (
	never = math.MaxInt64 // no deadline
	every = time.Second   // between two sweeps
)

// move sets the deadline.
func (d *deadline) move(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.want = never
	if !t.IsZero() {
		d.want = t.UnixNano()
		if d.want < d.last.Load()+2*int64(every) {
			d.own = true
			return d.set(t)
		}
	}
	if !d.own {
		return nil
	}
	d.own = false
	return d.set(time.Time{})
}

// sweep ends the reads or writes of a deadline that has passed.
func (d *deadline) sweep(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.want <= now.UnixNano() && !d.own {
		d.own = true
		d.set(now)
	}
}

// deadlines are the deadlines of a connection.
type deadlines struct{ read, write deadline }

func newDeadlines(c net.Conn, last *atomic.Int64) *deadlines {
	return &deadlines{deadline{set: c.SetReadDeadline, last: last, want: never}, deadline{set: c.SetWriteDeadline, last: last, want: never}}
}

// sweep looks at the deadlines of all connections of HTTP and GRPC, until the Door closes.
func (d *Door) sweep() {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			d.last.Store(now.UnixNano())
			d.mu.Lock()
			for c := range d.given {
				c.read.sweep(now)
				c.write.sweep(now)
			}
			d.mu.Unlock()
		case <-d.swept:
			return
		}
	}
}

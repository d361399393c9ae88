package door

import (
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A deadline is the deadline of one direction of a connection. net/http moves deadlines five times for each request, which
// takes about as long as the handler of one ID. So a move only notes the deadline, and the sweep of the [Door] looks at
// each connection every second: a deadline ends a read or a write up to a second late. A deadline that is now, or nearly,
// is the connection's own at once, if a call of the direction is under way: net/http ends its reads by such deadlines. Most
// of these reads have not begun yet, and then fail without the connection.
type deadline struct {
	set   func(time.Time) error // of the connection
	began time.Time             // of the Door
	last  *atomic.Int64         // Door.last: reading the clock takes longer than the rest

	mu   sync.Mutex
	want int64 // the noted deadline, in nanoseconds since began
	own  bool  // the connection has a deadline of its own
	busy int   // calls under way
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
		d.want = int64(t.Sub(d.began))
		last := d.last.Load()
		if d.want < last+2*int64(every) && (d.want > last || d.busy > 0) {
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

// begin begins a read or a write. The error is that the deadline has passed. A call of begin without an error needs a call
// of end.
func (d *deadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.want <= d.last.Load() {
		return os.ErrDeadlineExceeded
	}
	d.busy++
	return nil
}

func (d *deadline) end() {
	d.mu.Lock()
	d.busy--
	d.mu.Unlock()
}

// sweep ends the reads or writes of a deadline that has passed.
func (d *deadline) sweep(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.want <= int64(now.Sub(d.began)) && !d.own {
		d.own = true
		d.set(now)
	}
}

// deadlines are the deadlines of a connection.
type deadlines struct{ read, write deadline }

func newDeadlines(c net.Conn, d *Door) *deadlines {
	return &deadlines{deadline{set: c.SetReadDeadline, began: d.began, last: &d.last, want: never},
		deadline{set: c.SetWriteDeadline, began: d.began, last: &d.last, want: never}}
}

// sweep looks at the deadlines of all connections of HTTP and GRPC, until the Door closes.
func (d *Door) sweep() {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			d.last.Store(int64(now.Sub(d.began)))
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

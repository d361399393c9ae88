package sqlgen

import (
	"sync"
	"time"
)

// A clock tells the time of the database server. Between readings, a clock goes on by the monotonic
// clock of the machine, whatever the wall clock of the machine says. The zero clock tells the time
// of the machine.
type clock struct {
	mu    sync.Mutex
	told  time.Time // by the database
	local time.Time // when told was right
}

// now returns the time of the database server.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(time.Now())
}

func (c *clock) at(local time.Time) time.Time {
	if c.local.IsZero() {
		return local.Round(0)
	}
	return c.told.Add(local.Sub(c.local))
}

// set takes a reading, in Unix milliseconds: the database has read its clock between sent and
// received. A reading that the clock agrees with changes nothing.
func (c *clock) set(ms int64, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := time.UnixMilli(ms).UTC()
	last := first.Add(time.Millisecond) // the reading is a whole number
	if known := !c.local.IsZero(); known && !c.at(sent).After(last) && !c.at(received).Before(first) {
		return
	}
	c.told, c.local = first, sent.Add(received.Sub(sent)/2)
}

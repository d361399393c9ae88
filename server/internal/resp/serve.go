package resp

import (
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/firn-id/firn/server/internal/reason"
)

// The buffers in which a connection waits for commands: a short one while it's quiet, and a long one from a pool while it's
// busy.
const (
	short = 64
	long  = 4096
)

var buffers = sync.Pool{New: func() any { return new([long]byte) }}

// quiet is the time after which a connection without commands gives back its long buffer and its stack.
const quiet = time.Second

// patient is how many reads find commands that came before the server drained, and atOnce is how long each of them waits.
const (
	patient = 16
	atOnce  = 10 * time.Millisecond
)

// serve serves the connection until its end. Running commands makes the stack of a goroutine grow, and the stack of a
// goroutine that waits stays large. So a connection that's quiet goes on in a new goroutine.
func (c *conn) serve() {
	defer c.rescue()
	var buffer *[long]byte
	for last := 0; c.end == open; {
		b := c.short[:]
		if buffer != nil {
			b = buffer[:]
		}
		c.limit(last > 0)
		runtime.Gosched() // while others run, the next command may come: then the read needs no wait
		n, err := c.net.Read(b)
		if n > 0 {
			c.busy = true
			c.feed(b[:n])
			if n == short && buffer == nil {
				buffer = buffers.Get().(*[long]byte)
			}
		}
		timeout := errors.Is(err, os.ErrDeadlineExceeded)
		if timeout {
			c.until = time.Time{}
		}
		switch {
		case c.end != open:
		case errors.Is(err, io.EOF):
			c.eof, c.end = true, said
		case err != nil && !timeout:
			c.end = lost
		case last == 1, timeout && last > 0:
			c.end = said
		case last > 0:
			last--
		case timeout && c.server.draining.Load():
			last = patient
		case timeout && !c.late():
			if !c.busy {
				if buffer != nil {
					buffers.Put(buffer)
				}
				go c.serve()
				return
			}
			c.busy = false
		}
	}
	c.finish()
}

// limit sets the read deadline, unless one is still pending: moving it for each command would cost as much as the command, and
// a read that ends too early just starts again.
func (c *conn) limit(draining bool) {
	switch {
	case draining:
		c.net.SetReadDeadline(time.Now().Add(atOnce))
		return
	case !c.until.IsZero():
		return
	case c.busy:
		c.until = time.Now().Add(quiet)
	case c.since > 0:
		c.until = c.server.began.Add(c.since + c.server.partly)
	}
	c.net.SetReadDeadline(c.until)
	if c.server.draining.Load() { // wake may have come before the new deadline
		c.wake()
	}
}

// feed runs the commands of bytes that were read.
func (c *conn) feed(b []byte) {
	for len(b) > 0 && c.end == open {
		w := c.begin()
		n := copy(w.room(), b)
		w.to += n
		b = b[n:]
		c.answer()
	}
	c.idle()
}

// write writes to a client that may read slowly. A large answer has more time: a second for 64 KiB.
func (c *conn) write(b []byte, now time.Time) error {
	const inTime = 640 * 1024 // bytes that take as long as the slowest small answer
	slowest := c.server.slowest
	allowed := slowest + slowest*time.Duration(len(b))/inTime
	if now.Add(allowed).After(c.writeUntil) { // so it moves rarely
		c.writeUntil = now.Add(allowed + slowest/4)
		if err := c.net.SetWriteDeadline(c.writeUntil); err != nil {
			return err
		}
	}
	_, err := c.net.Write(b)
	return err
}

// late ends a connection that has sent a part of a command, and not the rest in time. late reports whether it has
// ended the connection.
func (c *conn) late() bool {
	if c.since == 0 || time.Since(c.server.began) < c.since+c.server.partly {
		return false
	}
	c.begin()
	c.refuse(reason.Request.Because(protocolErrorf("the end of the command has not come in %v", c.server.partly)))
	c.end = said
	c.flush()
	return true
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// wake makes the connection's goroutine look at Server.draining. Drain calls wake.
func (c *conn) wake() { c.net.SetReadDeadline(past) }

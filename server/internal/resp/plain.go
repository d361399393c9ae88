package resp

import (
	"errors"
	"io"
	"os"
	"time"
)

// small is the size of the buffer in which a connection waits for commands. A read that fills it is followed by reads
// into a large buffer, until a read is shorter than small.
const small = 512

// plain serves the connection by the methods of net.Conn.
func (c *conn) plain() {
	const atOnce = 10 * time.Millisecond // the wait for commands that have come
	var waiting [small]byte
	for wide, last := false, 0; c.end == open; {
		switch {
		case last > 0:
			c.net.SetReadDeadline(time.Now().Add(atOnce))
		case c.since > 0:
			c.deadline(c.server.began.Add(c.since + c.server.partly))
		default:
			c.deadline(time.Time{})
		}
		var n int
		var err error
		if wide {
			w := c.begin()
			n, err = c.net.Read(w.room())
			w.to += n
			c.answer(c.write)
		} else {
			n, err = c.net.Read(waiting[:])
			c.feed(waiting[:n])
		}
		if wide = n >= small; !wide {
			c.idle()
		}
		switch {
		case c.end != open:
		case err == nil && last == 1:
			c.end = said
		case err == nil:
			last = max(last-1, 0)
		case errors.Is(err, os.ErrDeadlineExceeded) && last == 0 && c.server.draining.Load():
			last = patient
		case errors.Is(err, os.ErrDeadlineExceeded):
			if last > 0 {
				c.end = said
			} else {
				c.late()
			}
		case errors.Is(err, io.EOF):
			c.eof, c.end = true, said
		default:
			c.end = lost
		}
	}
}

// feed runs the commands of bytes that were read.
func (c *conn) feed(b []byte) {
	for len(b) > 0 && c.end == open {
		w := c.begin()
		n := copy(w.room(), b)
		w.to += n
		b = b[n:]
		c.answer(c.write)
	}
}

//go:build unix

package resp

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// A loop reads and writes the socket of a connection inside a callback of syscall.RawConn: the callback returns false to
// wait for the client. Two system calls answer all commands that have come: a read and a write.
type loop struct {
	*conn
	reads int   // up to patient; then short reads are trusted
	watch watch // the deadline of reading
	slow  bool  // the callback has left an answer for writeSlowly
	last  int   // above 0, the server drains, and so many reads remain
}

// A watch says why reading has a deadline.
type watch uint8

const (
	never   watch = iota
	forEnd        // to look for the end of the client's data
	forRest       // to end a connection that has sent a part of a command
)

// look is the time after which a connection looks for the end of the client's data.
const look = time.Second

// fast serves the connection by its socket. fast returns false if the connection is not a plain socket.
func (c *conn) fast() bool {
	switch c.net.(type) {
	case *net.TCPConn, *net.UnixConn:
	default: // a type that embeds a socket may have other bytes than the socket
		return false
	}
	raw, err := c.net.(syscall.Conn).SyscallConn()
	if err != nil {
		return false
	}
	l := &loop{conn: c}
	for step := l.step; c.end == open; {
		err := raw.Read(step)
		switch {
		case err == nil && l.slow:
			l.slow = false
			c.writeSlowly()
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			l.watch = never
			c.net.SetReadDeadline(time.Time{})
			if c.server.draining.Load() {
				l.last = patient
			} else {
				c.late()
			}
		default:
			c.end = lost
		}
	}
	return true
}

// step runs the commands that have come. step returns false to wait for more of them.
func (l *loop) step(fd uintptr) bool {
	c := l.conn
	write := func(b []byte) (int, error) { return write(fd, b) }
	for short := false; ; {
		w := c.begin()
		if err := c.answer(write); err == errSlow {
			l.slow = true
			return true
		}
		if c.end != open {
			return true
		}
		if short && w.from == w.to && l.reads == patient && l.last == 0 {
			c.idle()
			l.wait(forEnd)
			return false
		}
		if l.last == 1 {
			c.end = said
			return true
		}
		room := w.room()
		n, err := read(fd, room)
		switch {
		case err == syscall.EAGAIN:
			c.idle()
			if l.last > 0 {
				c.end = said
				return true
			}
			l.wait(forRest)
			return false
		case err != nil:
			c.end = lost
			return true
		case n == 0:
			c.eof, c.end = true, said
			return true
		}
		w.to += n
		short = n < len(room)
		l.reads = min(l.reads+1, patient)
		l.last = max(l.last-1, 0)
	}
}

// wait sets the deadline of reading. A deadline that has lost its reason stays: setting deadlines for each command would
// take as much time as the command.
func (l *loop) wait(reason watch) {
	switch {
	case reason == forEnd && l.watch != forEnd:
		l.deadline(time.Now().Add(look))
		l.watch = forEnd
	case reason == forRest && l.since > 0 && l.watch == never:
		l.deadline(l.server.began.Add(l.since + l.server.partly))
		l.watch = forRest
	}
}

// read reads from a socket that does not block.
func read(fd uintptr, b []byte) (int, error) {
	for {
		n, err := sysRead(fd, b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// write writes to a socket that does not block. The error is errSlow if the socket takes no more.
func write(fd uintptr, b []byte) (done int, err error) {
	for done < len(b) {
		n, err := sysWrite(fd, b[done:])
		switch {
		case err == syscall.EAGAIN:
			return done, errSlow
		case err == syscall.EINTR:
		case err != nil:
			return done, err
		default:
			done += n
		}
	}
	return done, nil
}

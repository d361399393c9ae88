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
//
// Running commands makes the stack of a goroutine grow, and the stack of a goroutine that waits stays large. So when
// nothing has come for some time, the loop goes on in a new goroutine, whose stack is small. A connection with few reads
// may be idle soon, and does so at once.
type loop struct {
	*conn
	raw      syscall.RawConn
	callback func(fd uintptr) bool
	reads    int   // up to patient; then short reads are trusted
	watch    watch // the deadline of reading
	grown    bool  // the goroutine has run commands
	quiet    bool  // nothing has come for some time
	slow     bool  // the callback has left an answer for writeSlowly
	renew    bool  // the callback has left the wait to a new goroutine
	last     int   // above 0, the server drains, and so many reads remain
}

// A watch says why reading has a deadline.
type watch uint8

const (
	never    watch = iota
	forQuiet       // to look for the end of the client's data, and to make the stack small
	forRest        // to end a connection that has sent a part of a command
)

// look is the time after which a connection is quiet.
const look = time.Second

// fast serves the connection by its socket, in another goroutine. fast returns false if the connection is not a plain
// socket.
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
	l := &loop{conn: c, raw: raw}
	l.callback = l.step
	go l.serve()
	return true
}

// serve serves the connection until its end, or until another goroutine goes on.
func (l *loop) serve() {
	defer l.rescue()
	for l.end == open {
		err := l.raw.Read(l.callback)
		switch {
		case err == nil && l.renew:
			l.renew, l.grown = false, false
			go l.serve()
			return
		case err == nil && l.slow:
			l.slow = false
			l.writeSlowly()
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			l.passed()
		default:
			l.end = lost
		}
	}
	l.finish()
}

// passed does what the deadline of reading was for.
func (l *loop) passed() {
	l.quiet, l.watch = true, never
	l.net.SetReadDeadline(time.Time{})
	if l.server.draining.Load() {
		l.last = patient
	} else {
		l.late()
	}
}

// step runs the commands that have come. step returns false to wait for more of them.
func (l *loop) step(fd uintptr) bool {
	c := l.conn
	for short := false; ; {
		w := c.begin()
		if w.from < w.to && l.reply(fd) == errSlow {
			l.slow = true
			return true
		}
		if c.end != open {
			return true
		}
		if short && w.from == w.to && l.reads == patient && l.last == 0 {
			c.idle()
			l.wait()
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
			l.renew = l.grown && (l.quiet || l.reads < patient)
			return l.renew || !l.wait()
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
		l.grown, l.quiet = true, false
	}
}

func (l *loop) reply(fd uintptr) error {
	return l.answer(func(b []byte) (int, error) { return write(fd, b) })
}

// wait sets the deadline of reading, and returns true. A deadline that has lost its reason stays: setting deadlines for
// each command would take as much time as the command.
func (l *loop) wait() bool {
	switch {
	case l.grown && l.watch != forQuiet:
		l.deadline(time.Now().Add(look))
		l.watch = forQuiet
	case !l.grown && l.since > 0 && l.watch == never:
		l.deadline(l.server.began.Add(l.since + l.server.partly))
		l.watch = forRest
	}
	return true
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

package resp

import (
	"errors"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// A conn is a connection. Its fields are for the goroutine of the connection, unless they say otherwise.
type conn struct {
	server *Server // and Drain
	net    net.Conn
	number int64
	end    ending
	known  func() // called when the client has sent a token
	ended  func() // called when the connection is closed

	bearer   *access.Bearer
	protocol int  // 2 or 3
	big      bool // IDs above exact are big numbers
	name     string
	library  string

	work *work  // nil while the connection is idle
	rest []byte // the beginning of a command, while the connection is idle
	eof  bool   // the client sends no more

	short      [short]byte
	busy       bool      // commands have come since until was set
	until      time.Time // the deadline of reading; zero if it has passed, or there is none
	writeUntil time.Time // the deadline of writing

	// since is when the beginning of a command came, as the time since Server.began; 0 if none waits for its end.
	since time.Duration

	// The generator of the last key. Clients ask for the same key again and again.
	key    []byte
	source *supply.Source

	// A generator that had no IDs in time, and the error. Commands that came together wait once.
	failed *supply.Source
	why    *reason.Error
}

// An ending is how far the end of a connection has come.
type ending uint8

const (
	open ending = iota
	said        // the last answer is written or will be: no command is read any more
	lost        // nothing can be written any more, or nobody reads
)

// A work is what a connection needs while it runs commands.
type work struct {
	in       [maxFrame]byte
	from, to int // the part of in that has not run
	frame    frame
	out      []byte // answers
	answers  int    // the number of answers in out that are no errors, for metrics
	began    time.Time
	ids      []byte
	large    bool   // out may be large, and has an element in Server.large
	small    []byte // out while out is large
}

// flushAt is the length of answers that are written before the next command runs.
const flushAt = 32 * 1024

// keep is the capacity of a slice that stays with a work. Larger ones go to largeAnswers.
const keep = 2 * flushAt

var works = sync.Pool{New: func() any { return &work{out: make([]byte, 0, 4096)} }}

// begin gives the connection what it needs to run commands.
func (c *conn) begin() *work {
	if c.work == nil {
		c.work = works.Get().(*work)
		c.work.from, c.work.to = 0, copy(c.work.in[:], c.rest)
		c.rest = c.rest[:0]
	}
	return c.work
}

// idle gives back what begin gave. The connection keeps the beginning of a command in a buffer of its size.
func (c *conn) idle() {
	w := c.work
	if w == nil {
		return
	}
	if w.from < w.to {
		c.rest = append(c.rest, w.in[w.from:w.to]...)
	} else if cap(c.rest) > 0 {
		c.rest = nil
	}
	w.reset(c.server)
	c.work = nil
	works.Put(w)
}

// reset forgets answers.
func (w *work) reset(s *Server) {
	w.out, w.answers = w.out[:0], 0
	if w.large {
		w.giveBack(s)
	}
	if cap(w.ids) > keep {
		w.ids = nil
	}
}

// room moves the beginning of a command to the front of in, and returns the part of in that is free.
func (w *work) room() []byte {
	if w.from > 0 {
		w.to = copy(w.in[:], w.in[w.from:w.to])
		w.from = 0
	}
	return w.in[w.to:]
}

// answer runs the whole commands of the input, and writes their answers.
func (c *conn) answer() {
	if c.server.Calls != nil {
		c.work.began = time.Now()
	}
	c.failed = nil
	for more := true; more; {
		more = c.run()
		if !c.flush() {
			return
		}
	}
}

// flush writes the answers. It returns false if nothing can be written any more.
func (c *conn) flush() bool {
	w := c.work
	now := time.Now()
	if w.answers > 0 && c.server.Calls != nil {
		c.server.Calls.Answered(w.answers, now.Sub(w.began))
	}
	if len(w.out) > 0 {
		if err := c.write(w.out, now); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.server.Log.Debug("a client of RESP does not read", "client", c.net.RemoteAddr(), "error", err)
			}
			c.end = lost
		}
	}
	w.reset(c.server)
	return c.end != lost
}

// run runs commands, and reports whether there may be more of them than the answers have room for.
func (c *conn) run() (more bool) {
	w := c.work
	for c.end == open {
		n, fault := w.frame.parse(w.in[w.from:w.to])
		if fault != nil {
			c.server.Log.Debug("a malformed command of RESP", "client", c.net.RemoteAddr(), "error", fault)
			c.refuse(reason.Request.Because(fault))
			c.end, c.since = said, 0
			return false
		}
		if n == 0 {
			if c.since == 0 && w.from < w.to {
				c.since = time.Since(c.server.began)
			}
			return false
		}
		c.since = 0
		c.command(n)
		if len(w.out) >= flushAt {
			return true
		}
	}
	return false
}

// refuse answers with an error, as far as the token may read the error.
func (c *conn) refuse(e *reason.Error) {
	e = reason.Of(c.bearer.Tell(e))
	c.server.Calls.Refused(e.Of)
	c.work.out = appendError(c.work.out, e)
}

// linger ends the server's side of the connection, and waits for the client's end. Closing a connection that has
// received unread bytes resets it.
func (c *conn) linger() {
	half, ok := c.net.(interface{ CloseWrite() error })
	if !ok || c.eof || half.CloseWrite() != nil {
		return
	}
	until := time.Now().Add(farewell)
	var ignored [512]byte
	for {
		c.net.SetReadDeadline(until)
		_, err := c.net.Read(ignored[:])
		woken := errors.Is(err, os.ErrDeadlineExceeded) && time.Now().Before(until) // by Drain
		if err != nil && !woken {
			return
		}
	}
}

// finish ends the connection.
func (c *conn) finish() {
	if c.end == said {
		c.linger()
	}
	c.idle()
	if c.end == lost {
		c.cut()
	}
	c.net.Close()
	c.server.leave(c)
	c.server.Calls.Closed()
	c.ended()
}

// rescue ends the connection after a panic. The other connections go on, as in package net/http.
func (c *conn) rescue() {
	p := recover()
	if p == nil {
		return
	}
	c.server.Log.Error("a command of RESP has panicked", "panic", p, "client", c.net.RemoteAddr(), "stack", string(debug.Stack()))
	if c.work != nil {
		c.work.reset(c.server)
		c.work = nil // not for another connection
	}
	c.end = lost
	c.finish()
}

// cut closes the socket. Close of a TLS connection waits for a client that does not read.
func (c *conn) cut() {
	if t, ok := c.net.(interface{ NetConn() net.Conn }); ok {
		t.NetConn().Close()
		return
	}
	c.net.Close()
}

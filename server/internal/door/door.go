// Package door accepts the connections of a server, and finds the protocol of each: one port speaks RESP, HTTP and gRPC.
//
// The door decides once for a connection, and never again. A connection whose first byte is '*' speaks RESP to its end,
// and any other connection never does: no body of an HTTP request can become a command. Under TLS the client says what it
// speaks (ALPN): a client that offers HTTP/2 alone speaks gRPC, a client that offers HTTP/1.1 too speaks HTTP, and without
// an offer the first bytes decide.
package door

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/server/internal/metrics"
)

// A Protocol is what a connection speaks.
type Protocol uint8

// The protocols.
const (
	HTTP Protocol = iota
	GRPC
	RESP
)

// A Config says what a [Door] does with connections.
type Config struct {
	TLS   *tls.Config    // nil for connections without TLS
	Limit int            // how many connections are open at a time, beside the reserve; 0 means no limit
	HTTP  *metrics.Calls // counts the connections of HTTP; the servers of the other protocols count their own
	Log   *slog.Logger

	// RESP serves a connection until its end, closes it, and calls ended. RESP may return before. start is what was read
	// from the connection before. RESP calls entered when the end of the server of RESP would wait for the connection, and
	// known when the client has sent a token.
	RESP func(c net.Conn, start []byte, known, entered, ended func())
	// Full answers a connection of RESP or GRPC beyond the limit, and does not close it. The server of HTTP gets such
	// connections, too: see [Conn].
	Full func(c net.Conn, p Protocol)
	// Failed, if not nil, counts a TLS handshake that has failed.
	Failed func()

	// First is how long a connection may be silent before its first byte, and a TLS handshake may take. 0 means 20 s.
	First time.Duration
	// Token is how long a connection may take to send a token, whatever it does meanwhile. 0 means that no token is needed.
	Token time.Duration
}

// A Conn is a connection of HTTP or GRPC. The address of the client of a connection is a Conn, too: grpc gives a call the
// address.
type Conn interface {
	Known()     // the client has sent a token
	Full() bool // the connection is beyond the limit
}

// A Door is the entrance of a server. A Door is safe for concurrent use.
type Door struct {
	Config
	queues [2]*queue // of HTTP and GRPC
	open   atomic.Int64
	warned atomic.Int64 // when the log got the last handshake that failed, in Unix nanoseconds

	mu       sync.Mutex
	waiting  map[net.Conn]struct{}  // connections without a protocol
	given    map[*conn]struct{}     // open connections of HTTP and GRPC
	beyond   map[net.Conn]time.Time // connections beyond the limit, and when each was first read
	draining bool

	finding sync.WaitGroup // connections that no server has yet
	serving sync.WaitGroup // all connections
	linger  sync.WaitGroup // connections that end without a reset
}

// New returns a Door.
func New(c Config) *Door {
	if c.First == 0 {
		c.First = 20 * time.Second
	}
	d := &Door{Config: c, queues: [2]*queue{newQueue(), newQueue()}, waiting: map[net.Conn]struct{}{}, given: map[*conn]struct{}{},
		beyond: map[net.Conn]time.Time{}}
	return d
}

// Listener returns the connections of HTTP or GRPC, for the server of the protocol.
func (d *Door) Listener(p Protocol) net.Listener { return d.queues[p] }

// Serve accepts connections until the listener is closed. only restricts the listener to RESP: the first bytes do not
// matter.
func (d *Door) Serve(ln net.Listener, only bool) {
	var pause time.Duration
	for {
		c, err := ln.Accept()
		switch {
		case err == nil:
			pause = 0
		case errors.Is(err, net.ErrClosed):
			return
		default:
			if e, ok := err.(net.Error); ok && e.Timeout() {
				return // the listener was drained
			}
			// Too many open files, for example: connections that end make room.
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			d.Log.Warn("accept", "error", err, "retry", pause)
			time.Sleep(pause)
			continue
		}
		// The door knows the connection before Serve can return, so Drain misses none.
		if d.watch(c) {
			full := d.open.Add(1) > int64(d.Limit) && d.Limit > 0
			if full {
				d.open.Add(-1)
				d.makeRoom(c)
			}
			d.serving.Go(func() { d.serve(c, only, full) })
		} else {
			c.Close() // Serve was called after Drain
		}
	}
}

// preface begins each connection of HTTP/2 without TLS. The first three bytes are no beginning of a method of HTTP/1.1.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// reserve is how many connections there can be beyond the limit: for requests of health and metrics, which have to be
// answered then, and to tell other clients why they are refused.
const reserve = 64

// turn is how long a connection beyond the limit has for its request at least. Meanwhile new connections wait in the queue of
// the kernel, so the turn is short: it lets in 6400 connections a second.
const turn = 10 * time.Millisecond

// makeRoom makes room for a connection beyond the limit: the oldest silent one makes way or, if all have sent something, the
// oldest, after its turn. So clients that hold connections keep nobody out.
func (d *Door) makeRoom(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.beyond) >= reserve {
		var out net.Conn
		quiet := false
		for c, began := range d.beyond {
			_, silent := d.waiting[c]
			if out == nil || silent && !quiet || silent == quiet && began.Before(d.beyond[out]) {
				out, quiet = c, silent
			}
		}
		if rest := time.Until(d.beyond[out].Add(turn)); rest > 0 {
			d.mu.Unlock()
			time.Sleep(rest)
			d.mu.Lock()
			continue // others may have ended
		}
		delete(d.beyond, out)
		out.Close()
	}
	d.beyond[c] = time.Now().Add(turn) // until serve reads it: its request may be waiting
}

// serve finds the protocol of a connection, and hands the connection over.
func (d *Door) serve(c net.Conn, only, full bool) {
	known := func() {}
	if d.Token > 0 {
		timer := time.AfterFunc(d.Token, func() {
			d.Log.Debug("a client has sent no token in time", "client", c.RemoteAddr())
			c.Close()
		})
		known = func() { timer.Stop() }
	}
	ended := func() {
		known()
		if !full {
			d.open.Add(-1)
			return
		}
		d.mu.Lock()
		delete(d.beyond, c)
		d.mu.Unlock()
	}
	if full {
		d.mu.Lock()
		d.beyond[c] = time.Now()
		d.mu.Unlock()
	}
	inner, p, start, err := d.find(c, only)
	d.settle(c)
	switch {
	case err != nil:
		d.finding.Done()
		if e, ok := errors.AsType[tls.RecordHeaderError](err); ok && e.Conn != nil {
			d.answerPlain(e.Conn, only || e.RecordHeader[0] == '*')
		}
		d.Close(c)
	case full && p != HTTP:
		d.finding.Done()
		d.Full(inner, p)
		d.Close(inner)
	case p == RESP:
		inner.SetDeadline(time.Time{})
		d.serving.Add(1)
		d.RESP(inner, start, known, d.finding.Done, func() {
			ended()
			d.serving.Done()
		})
		return // the goroutine's stack has grown: RESP waits for the client in another
	default:
		inner.SetDeadline(time.Time{})
		d.hand(&conn{Conn: inner, start: start, door: d, protocol: p, full: full, known: known, ended: ended})
		d.finding.Done() // the server of the protocol has the connection, or the connection is closed
		return
	}
	ended()
}

// hand gives a connection to the server of its protocol. Close of the conn counts the connection out.
func (d *Door) hand(c *conn) {
	d.serving.Add(1)
	d.mu.Lock()
	d.given[c] = struct{}{}
	d.mu.Unlock()
	if c.protocol == HTTP {
		d.HTTP.Opened()
	}
	if !d.queues[c.protocol].put(c) {
		c.Close()
	}
}

// find returns the protocol of a connection, and what was read to find it. inner is the connection inside of TLS.
func (d *Door) find(c net.Conn, only bool) (inner net.Conn, p Protocol, start []byte, err error) {
	c.SetDeadline(time.Now().Add(d.First))
	if d.isDraining() { // Drain may have set the deadline before
		c.SetReadDeadline(time.Now().Add(grace))
	}
	if d.TLS != nil {
		if _, unix := c.(*net.UnixConn); !unix { // who may open the socket's file is told by the file's mode
			h := &heard{Conn: c}
			t := tls.Server(h, d.TLS)
			if err := t.HandshakeContext(context.Background()); err != nil {
				if h.any {
					d.failed(c, err)
				}
				return nil, 0, nil, err
			}
			c = t
			switch offer := t.ConnectionState().NegotiatedProtocol; {
			case offer == "h2" && !only:
				return c, GRPC, nil, nil
			case offer == "http/1.1" && !only:
				return c, HTTP, nil, nil
			}
		}
	}
	if only {
		return c, RESP, nil, nil
	}
	start = make([]byte, 0, len(preface))
	for {
		n, err := c.Read(start[len(start):cap(start)])
		start = start[:len(start)+n]
		switch {
		case len(start) == 0:
		case start[0] == '*':
			return c, RESP, start, nil
		case string(start) == preface:
			return c, GRPC, start, nil
		case string(start) != preface[:len(start)]:
			return c, HTTP, start, nil
		}
		if err != nil {
			return c, 0, start, err
		}
	}
}

// A heard notes whether the client has sent anything. A probe that only connects begins no handshake.
type heard struct {
	net.Conn
	any bool
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	h.any = h.any || n > 0
	return n, err
}

// CloseWrite ends the answers.
func (h *heard) CloseWrite() error { return closeWrite(h.Conn) }

// failed counts a handshake that has failed, and tells the log at most once a minute: anybody can make handshakes fail.
func (d *Door) failed(c net.Conn, err error) {
	if d.Failed != nil {
		d.Failed()
	}
	now := time.Now().UnixNano()
	if last := d.warned.Load(); now-last >= int64(time.Minute) && d.warned.CompareAndSwap(last, now) {
		d.Log.Warn("a TLS handshake has failed; further failures within a minute are only counted", "client", c.RemoteAddr().String(), "error", err)
	}
}

// answerPlain tells a client without TLS that the port speaks TLS.
func (d *Door) answerPlain(c net.Conn, resp bool) {
	c.SetDeadline(time.Now().Add(lingering))
	if resp {
		io.WriteString(c, "-ERR request: this port speaks TLS: connect with TLS, as redis-cli --tls does\r\n")
	} else {
		io.WriteString(c, "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nrequest: this port speaks TLS: use https\n")
	}
	endGently(c)
}

// watch notes a connection without a protocol. It reports whether the connection may go on.
func (d *Door) watch(c net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.draining {
		d.waiting[c] = struct{}{}
		d.finding.Add(1)
	}
	return !d.draining
}

// settle ends the deadlines of Drain for a connection: the deadlines are the next server's. Drain goes on to wait until
// the server has the connection.
func (d *Door) settle(c net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, c)
}

func (d *Door) isDraining() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.draining
}

// grace is how long a connection may take to send its first bytes, while the Door drains.
const grace = 500 * time.Millisecond

// Drain returns when all connections that were accepted have a protocol. A connection that has sent nothing yet has
// [grace] to begin. Call Drain when all calls of Serve have returned, and before the servers of the protocols end.
func (d *Door) Drain() {
	d.mu.Lock()
	d.draining = true
	for c := range d.waiting {
		c.SetReadDeadline(time.Now().Add(grace))
	}
	d.mu.Unlock()
	d.finding.Wait()
	for _, q := range d.queues {
		q.Close()
	}
}

// Wait waits for the ends of all connections, until ctx ends. Call Wait once, after Drain.
func (d *Door) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		d.serving.Wait()
		d.linger.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Abort closes all connections of HTTP and GRPC. The server of gRPC waits for the ends of its connections, also of those
// whose clients have not sent a whole preface.
func (d *Door) Abort() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.given {
		c.Conn.Close()
	}
}

// Connections returns how many connections are open.
func (d *Door) Connections() int { return int(d.open.Load()) }

// lingering is how long a closed connection waits for the client's end.
const lingering = time.Second

// Close closes a connection without a reset, while the Door drains: the client reads the end of the answers. A close
// with bytes unread, or before bytes that are under way, would be a reset, and the client could lose an answer.
func (d *Door) Close(c net.Conn) {
	if _, ok := c.(closeWriter); !ok || !d.isDraining() {
		c.Close()
		return
	}
	d.linger.Go(func() {
		defer c.Close()
		endGently(c)
	})
}

// endGently ends the answers of a connection, and waits for the client's end.
func endGently(c net.Conn) {
	if closeWrite(c) != nil {
		return
	}
	c.SetReadDeadline(time.Now().Add(lingering))
	var rest [512]byte
	for {
		if _, err := c.Read(rest[:]); err != nil {
			return
		}
	}
}

type closeWriter interface{ CloseWrite() error }

func closeWrite(c net.Conn) error {
	if half, ok := c.(closeWriter); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// A conn is a connection of HTTP or GRPC.
type conn struct {
	net.Conn
	start    []byte // read before, and not read from the conn yet
	door     *Door
	protocol Protocol
	full     bool
	known    func()
	ended    func()
	closed   atomic.Bool
}

func (c *conn) Known()     { c.known() }
func (c *conn) Full() bool { return c.full }

// An address is the address of a client, with the connection.
type address struct {
	net.Addr
	Conn
}

func (c *conn) RemoteAddr() net.Addr { return address{c.Conn.RemoteAddr(), c} }

func (c *conn) Read(p []byte) (int, error) {
	if len(c.start) > 0 {
		n := copy(p, c.start)
		c.start = c.start[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// CloseWrite ends the answers. net/http calls CloseWrite before it closes a connection with bytes unread.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

func (c *conn) Close() error {
	if c.closed.Swap(true) {
		return net.ErrClosed
	}
	c.door.mu.Lock()
	delete(c.door.given, c)
	c.door.mu.Unlock()
	if c.protocol == HTTP {
		c.door.HTTP.Closed()
	}
	c.door.Close(c.Conn)
	c.ended()
	c.door.serving.Done()
	return nil
}

// A queue is the listener of a protocol's server.
type queue struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newQueue() *queue { return &queue{conns: make(chan net.Conn), closed: make(chan struct{})} }

// put gives a connection to Accept. It reports whether the queue is open.
func (q *queue) put(c net.Conn) bool {
	select {
	case q.conns <- c:
		return true
	case <-q.closed:
		return false
	}
}

func (q *queue) Accept() (net.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

// Addr returns no address of its own: connections come from several listeners.
func (q *queue) Addr() net.Addr { return &net.TCPAddr{} }

// Package resp speaks RESP, the protocol of Redis, so a Redis client of any language gets IDs: INCR answers with a new
// ID of 64 bits, and FIRN.NEXT and FIRN.RUN make IDs of all formats, and many at a time.
//
// A connection has one goroutine. It reads what has come, runs all whole commands, and writes all answers at once. It
// takes its large buffers from a pool, and gives them back when it has nothing to do.
//
//	Start ─▶ serve (serve.go) ─▶ answer (conn.go) ─▶ parse (parse.go)
//	                                               └▶ command (commands.go, take.go)
package resp

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/supply"
)

// A Config says what a [Server] serves.
type Config struct {
	Set     *supply.Set
	Access  *access.Access // nil lets everybody do everything
	MaxIDs  int            // IDs a command; 0 means [supply.DefaultIDs]
	Calls   *metrics.Calls
	Log     *slog.Logger // nil means no log
	Version string       // of the server, for HELLO and INFO
}

// The limits of time. A Server has copies of the first two, for tests with shorter limits.
const (
	slowest  = 10 * time.Second       // a client that reads nothing of an answer for so long is cut off
	partly   = 30 * time.Second       // a command whose end does not come for so long ends its connection
	farewell = 2 * time.Second        // how long a connection that ends waits for the client's end
	mercy    = 500 * time.Millisecond // how long commands wait for IDs while the server drains
)

// A Server serves RESP. It is safe for concurrent use.
type Server struct {
	Config
	began    time.Time
	numbers  atomic.Int64 // of connections
	draining atomic.Bool
	waiting  context.Context // of the commands that wait for IDs
	stop     context.CancelFunc
	large    chan struct{} // has an element for each large answer
	partly   time.Duration
	slowest  time.Duration

	mu    sync.Mutex
	conns map[*conn]struct{}
	done  chan struct{} // closed when draining and conns is empty
}

// New returns a Server.
func New(c Config) *Server {
	if c.MaxIDs == 0 {
		c.MaxIDs = supply.DefaultIDs
	}
	if c.Access == nil {
		c.Access = &access.Access{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{Config: c, began: time.Now(), large: make(chan struct{}, maxLarge), partly: partly, slowest: slowest,
		conns: map[*conn]struct{}{}, done: make(chan struct{})}
	s.waiting, s.stop = context.WithCancel(context.Background())
	return s
}

// ServeConn serves a connection until it ends, and closes it. The other parameters are those of [Server.Start].
func (s *Server) ServeConn(n net.Conn, start []byte, entered func()) {
	done := make(chan struct{})
	s.Start(n, start, func() {}, entered, func() { close(done) })
	<-done
}

// Start serves a connection until it ends, closes it, and calls ended. start has the bytes that were read from the
// connection before. Start does not keep start. Start calls entered when Drain would wait for the connection: a caller that
// calls Drain after entered knows that the commands of the connection are answered. Start calls known whenever the client
// sends a token of the server.
//
// Start returns before the connection ends. The goroutines that wait for the client have small stacks: return soon, too.
func (s *Server) Start(n net.Conn, start []byte, known, entered, ended func()) {
	c := &conn{server: s, net: n, number: s.numbers.Add(1), protocol: 2, known: known, ended: ended}
	ok := s.enter(c)
	entered()
	if !ok {
		n.Close()
		ended()
		return
	}
	defer c.rescue()
	s.Calls.Opened()
	c.feed(start)
	go c.serve()
}

// enter adds a connection to those that Drain ends. It returns false if the server drains.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining.Load() {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.draining.Load() && len(s.conns) == 0 {
		close(s.done)
	}
}

// open returns the number of connections.
func (s *Server) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Drain ends all connections, and closes new connections at once. The server answers the commands that have come, and
// ends its side of each connection. Then the server ignores what the client still sends, until the client ends the
// connection. Closing earlier would reset the connection, and a reset may destroy answers on their way. Commands that wait
// for IDs wait half a second longer.
//
// When ctx ends, Drain closes the connections that are left, and returns the error of ctx. Call Drain once.
func (s *Server) Drain(ctx context.Context) error {
	s.mu.Lock()
	s.draining.Store(true)
	left := len(s.conns)
	if left == 0 {
		close(s.done)
	}
	for c := range s.conns {
		c.wake()
	}
	s.mu.Unlock()
	defer s.stop()
	patience := time.AfterFunc(mercy, s.stop)
	defer patience.Stop()
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for c := range s.conns {
		c.cut()
	}
	s.mu.Unlock()
	return ctx.Err()
}

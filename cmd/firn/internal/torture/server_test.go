package torture

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

// A fileServer serves a store of files to the network, as simply as can be: a call, a reply.
type fileServer struct {
	dir    string
	listen string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	open     sync.WaitGroup
}

type call struct {
	Op, Key string
	Value   []byte
	Rev     driver.Revision
}

type reply struct {
	Entries []driver.Entry
	Rev     driver.Revision
	Is      int // index of the sentinel in sentinels, less one
	Err     string
}

var sentinels = []error{driver.ErrUnavailable, driver.ErrNotFound, driver.ErrConflict, driver.ErrKey, driver.ErrDamaged}

func serveFiles(dir string) (*fileServer, error) {
	port, err := loopback.Port()
	if err != nil {
		return nil, err
	}
	s := &fileServer{dir: dir, listen: fmt.Sprintf("127.0.0.1:%d", port), conns: make(map[net.Conn]bool)}
	return s, s.start()
}

func (s *fileServer) start() error {
	var l net.Listener
	var err error
	if !wait.For(func() bool { // a child may hold the listener of before until it runs its program
		l, err = net.Listen("tcp", s.listen)
		return err == nil
	}) {
		return err
	}
	store, err := filelease.Open(s.dir)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.listener = l
	s.mu.Unlock()
	s.open.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[c] = true
			s.mu.Unlock()
			s.open.Go(func() { serve(c, store) })
		}
	})
	return nil
}

func (s *fileServer) address() string { return s.listen }

// close ends the server with all that is under way.
func (s *fileServer) close() {
	s.mu.Lock()
	s.listener.Close()
	for c := range s.conns {
		c.Close()
	}
	clear(s.conns)
	s.mu.Unlock()
	s.open.Wait()
}

func (s *fileServer) Faults() []string { return []string{"restart"} }

func (s *fileServer) Break(ctx context.Context, _ string, d time.Duration) error {
	s.close()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return s.start()
}

func serve(c net.Conn, store driver.Store) {
	defer c.Close()
	in, out := gob.NewDecoder(c), gob.NewEncoder(c)
	for {
		var q call
		if in.Decode(&q) != nil {
			return
		}
		var r reply
		var err error
		switch q.Op {
		case "get":
			var e driver.Entry
			e, err = store.Get(context.Background(), q.Key)
			r.Entries = []driver.Entry{e}
		case "list":
			r.Entries, err = store.List(context.Background(), q.Key)
		case "put":
			r.Rev, err = store.Put(context.Background(), q.Key, q.Value, q.Rev)
		}
		if err != nil {
			r.Err = err.Error()
			for i, s := range sentinels {
				if errors.Is(err, s) {
					r.Is = i + 1
				}
			}
		}
		if out.Encode(r) != nil {
			return
		}
	}
}

// remote is a store that a fileServer serves.
type remote struct {
	server string

	mu   sync.Mutex
	conn net.Conn
	in   *gob.Decoder
	out  *gob.Encoder
}

func dialFiles(server string) (driver.Store, error) { return &remote{server: server}, nil }

func (r *remote) call(ctx context.Context, q call) (reply, error) {
	fail := func(err error) (reply, error) {
		return reply{}, &driver.Error{Store: r.server, Op: q.Op, Key: q.Key, Err: err}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return fail(fmt.Errorf("%w: %w", driver.ErrUnavailable, err))
	}
	if r.conn == nil {
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", r.server)
		if err != nil {
			return fail(fmt.Errorf("%w: %w", driver.ErrUnavailable, err))
		}
		r.conn, r.in, r.out = conn, gob.NewDecoder(conn), gob.NewEncoder(conn)
	}
	deadline, _ := ctx.Deadline()
	r.conn.SetDeadline(deadline)
	var a reply
	err := r.out.Encode(q)
	if err == nil {
		err = r.in.Decode(&a)
	}
	if err != nil {
		r.conn.Close()
		r.conn = nil
		return fail(fmt.Errorf("%w: %w", driver.ErrUnavailable, err))
	}
	if a.Is > 0 {
		return fail(fmt.Errorf("%w: %s", sentinels[a.Is-1], a.Err))
	}
	if a.Err != "" {
		return fail(errors.New(a.Err))
	}
	return a, nil
}

func (r *remote) Get(ctx context.Context, key string) (driver.Entry, error) {
	a, err := r.call(ctx, call{Op: "get", Key: key})
	if err != nil {
		return driver.Entry{}, err
	}
	return a.Entries[0], nil
}

func (r *remote) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	a, err := r.call(ctx, call{Op: "list", Key: prefix})
	return a.Entries, err
}

func (r *remote) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	a, err := r.call(ctx, call{Op: "put", Key: key, Value: value, Rev: rev})
	return a.Rev, err
}

func (r *remote) String() string { return r.server }

func (r *remote) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn != nil {
		return r.conn.Close()
	}
	return nil
}

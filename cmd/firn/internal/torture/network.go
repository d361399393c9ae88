package torture

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A link is the network between the processes of a slot and one server: a TCP proxy that loses and
// delays traffic.
//
// Lost traffic is withheld until the loss ends, then the connection is closed. A network never
// leaves a gap in a stream.
type link struct {
	listener net.Listener
	server   string
	ctx      context.Context // ends with the link
	end      context.CancelFunc
	open     sync.WaitGroup

	mu      sync.Mutex
	weather weather
	changed chan struct{} // closed when the weather changes

	requests, replies flow
}

// weather is the state of a link.
type weather struct {
	loseRequests, loseReplies bool
	delay                     time.Duration // of each piece, both ways
}

// flow counts pieces of traffic.
type flow struct{ passed, lost, delayed atomic.Int64 }

// newLink returns a link to a server.
func newLink(server string) (*link, error) {
	l := &link{server: server, changed: make(chan struct{})}
	var err error
	if l.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	l.ctx, l.end = context.WithCancel(context.Background())
	l.open.Go(func() {
		for {
			c, err := l.listener.Accept()
			if err != nil {
				return // closed
			}
			l.open.Go(func() { l.connect(c) })
		}
	})
	return l, nil
}

func (l *link) address() string { return l.listener.Addr().String() }

// close ends the link and all its connections.
func (l *link) close() {
	l.end()
	l.listener.Close()
	l.open.Wait()
}

func (l *link) set(w weather) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.weather = w
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *link) now() (weather, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.weather, l.changed
}

func (l *link) connect(client net.Conn) {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", l.server)
	if err != nil {
		client.Close()
		return
	}
	defer context.AfterFunc(ctx, func() { client.Close(); server.Close() })()
	defer client.Close()
	defer server.Close()
	l.open.Go(func() {
		defer cancel()
		l.pump(ctx, client, server, &l.requests, func(w weather) bool { return w.loseRequests })
	})
	l.pump(ctx, server, client, &l.replies, func(w weather) bool { return w.loseReplies })
}

// pump passes traffic on, depending on the weather.
func (l *link) pump(ctx context.Context, from io.Reader, to io.Writer, f *flow, lost func(weather) bool) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		if n > 0 {
			if !l.weatherize(ctx, f, lost) {
				return
			}
			if _, err := to.Write(piece[:n]); err != nil {
				return
			}
			f.passed.Add(1)
		}
		if err != nil {
			return
		}
	}
}

// weatherize loses or delays a piece of traffic. It reports whether the traffic goes on.
func (l *link) weatherize(ctx context.Context, f *flow, lost func(weather) bool) bool {
	w, changed := l.now()
	if lost(w) {
		f.lost.Add(1)
		select {
		case <-changed:
		case <-ctx.Done():
		}
		return false
	}
	if w.delay > 0 {
		f.delayed.Add(1)
		select {
		case <-time.After(w.delay):
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// A spell is a time of bad weather on the links of a slot.
type spell struct {
	links  []*link
	before []counts
}

// counts are the counts of a link.
type counts struct{ passed, lostRequests, lostReplies, delayed int64 }

func (l *link) counts() counts {
	return counts{l.requests.passed.Load(), l.requests.lost.Load(), l.replies.lost.Load(),
		l.requests.delayed.Load() + l.replies.delayed.Load()}
}

func begin(links []*link, w weather) *spell {
	s := &spell{links: links}
	for _, l := range links {
		s.before = append(s.before, l.counts())
		l.set(w)
	}
	return s
}

// end ends the bad weather, and returns what happened.
func (s *spell) end() (c counts) {
	for i, l := range s.links {
		now, before := l.counts(), s.before[i]
		c.passed += now.passed - before.passed
		c.lostRequests += now.lostRequests - before.lostRequests
		c.lostReplies += now.lostReplies - before.lostReplies
		c.delayed += now.delayed - before.delayed
		l.set(weather{})
	}
	return c
}

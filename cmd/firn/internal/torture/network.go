package torture

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/pause"
)

// A network is between the processes of a slot and the servers of the store: a TCP proxy for each server
// that loses and delays traffic.
//
// Lost traffic is withheld until the loss ends, then the connection is closed. A network never leaves a gap in
// a stream.
type network struct {
	ctx       context.Context // ends with the network
	end       context.CancelFunc
	listeners []net.Listener
	all       sync.WaitGroup

	mu      sync.Mutex
	weather weather
	changed chan struct{} // closed when the weather changes
	hit     atomic.Int64  // pieces that were lost or delayed
}

// weather is the state of a network.
type weather struct {
	loseRequests, loseReplies bool
	delay                     time.Duration // of each piece, both ways
}

// newNetwork returns a network to some servers, and the addresses through which it is reached.
func newNetwork(servers []string) (n *network, by []string, err error) {
	n = &network{changed: make(chan struct{})}
	n.ctx, n.end = context.WithCancel(context.Background())
	for _, server := range servers {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			n.close()
			return nil, nil, err
		}
		n.listeners, by = append(n.listeners, l), append(by, l.Addr().String())
		n.all.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return // closed
				}
				n.all.Go(func() { n.connect(c, server) })
			}
		})
	}
	return n, by, nil
}

// close ends the network and all its connections.
func (n *network) close() {
	n.end()
	for _, l := range n.listeners {
		l.Close()
	}
	n.all.Wait()
}

// set changes the weather, and returns how many pieces of traffic the weather before has hit.
func (n *network) set(w weather) (hit int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.weather = w
	close(n.changed)
	n.changed = make(chan struct{})
	return n.hit.Swap(0)
}

func (n *network) connect(client net.Conn, address string) {
	defer client.Close()
	ctx, cancel := context.WithCancel(n.ctx)
	defer cancel()
	var dialer net.Dialer
	server, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}
	defer server.Close()
	defer context.AfterFunc(ctx, func() { client.Close(); server.Close() })()
	n.all.Go(func() {
		defer cancel()
		n.pump(ctx, client, server, func(w weather) bool { return w.loseRequests })
	})
	n.pump(ctx, server, client, func(w weather) bool { return w.loseReplies })
}

// pump passes traffic on, as the weather allows.
func (n *network) pump(ctx context.Context, from io.Reader, to io.Writer, lost func(weather) bool) {
	piece := make([]byte, 32<<10)
	for {
		size, err := from.Read(piece)
		if size > 0 {
			if !n.passes(ctx, lost) {
				return
			}
			if _, err := to.Write(piece[:size]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// passes loses or delays a piece of traffic. It reports whether the piece goes on.
func (n *network) passes(ctx context.Context, lost func(weather) bool) bool {
	n.mu.Lock()
	w, changed := n.weather, n.changed
	if lost(w) || w.delay > 0 {
		n.hit.Add(1)
	}
	n.mu.Unlock()
	switch {
	case lost(w):
		select {
		case <-changed:
		case <-ctx.Done():
		}
		return false
	case w.delay > 0:
		return pause.For(ctx, w.delay) == nil
	}
	return true
}

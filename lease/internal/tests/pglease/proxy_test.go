package pglease_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A proxy stands for the network between a client and a server.
type proxy struct {
	listener net.Listener

	mu     sync.Mutex
	open   sync.Cond
	frozen bool // nothing goes through
	forgot int  // earlier connections stay silent for ever
	number int  // of connections
	allow  int  // the bytes that still pass from clients; -1 means all
	passed int  // bytes from clients
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	p := &proxy{allow: -1}
	p.open.L = &p.mu
	var err error
	p.listener, err = loopback.Proxy(server, p.serve)
	testkit.OK(t, err)
	t.Cleanup(func() {
		p.listener.Close()
		p.set(func() { p.frozen, p.forgot, p.allow = false, 0, -1 })
	})
	return p
}

// address returns the address of a store through the proxy.
func (p *proxy) address(addr string) string {
	scheme, rest, _ := strings.Cut(addr, "://")
	authority, rest, _ := strings.Cut(rest, "/")
	user := authority[:strings.IndexByte(authority, '@')+1]
	return fmt.Sprintf("%s://%s%s/%s", scheme, user, p.listener.Addr(), rest)
}

func (p *proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.open.Broadcast()
}

func (p *proxy) serve(client, server net.Conn) {
	p.mu.Lock()
	p.number++
	number := p.number
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.copy(client, server, number, false)
		client.Close()
	}()
	p.copy(server, client, number, true)
	server.Close()
	<-done
}

func (p *proxy) copy(to, from net.Conn, number int, fromClient bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		for chunk := buf[:n]; len(chunk) > 0; {
			p.mu.Lock()
			for p.frozen || number <= p.forgot || fromClient && p.allow == 0 {
				p.open.Wait()
			}
			n := len(chunk)
			if fromClient && p.allow > 0 {
				n = min(n, p.allow)
				p.allow -= n
			}
			if fromClient {
				p.passed += n
			}
			p.mu.Unlock()
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
			chunk = chunk[n:]
		}
	}
}

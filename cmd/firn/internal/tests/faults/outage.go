//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/loopback"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/nanoflake"
)

// outage drops all packets to each store: first for a time that a window of 10 s outlasts, then
// until after the end of the window.
func outage(ctx context.Context, out io.Writer, names []string, short time.Duration) error {
	for _, name := range names {
		server, err := startServer(ctx, name)
		if err != nil {
			return err
		}
		err = watchOutage(ctx, out, name, server, short)
		server.close()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func watchOutage(ctx context.Context, out io.Writer, name string, s server, short time.Duration) error {
	gates, by, err := newGates(s.endpoints())
	if err != nil {
		return err
	}
	defer gates.close()
	store, err := open(ctx, s.address(by))
	if err != nil {
		return err
	}
	defer store.Close()
	if p, ok := store.(driver.Preparer); ok {
		if err := p.Prepare(ctx); err != nil {
			return err
		}
	}
	events := make(chan lease.Event, 1000)
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return err
	}
	l, err := lease.Start(ctx, store, gen, lease.Config{Create: true, Notify: func(e lease.Event) { events <- e }})
	if err != nil {
		return err
	}
	defer l.Close()
	mint := func(until func() bool) (ids int, failed error) {
		for !until() && ctx.Err() == nil {
			switch _, err := gen.TryNext(); {
			case err == nil:
				ids++
			case !errors.Is(err, iderr.ErrExhausted):
				failed = err
			}
			time.Sleep(100 * time.Microsecond)
		}
		return ids, failed
	}
	during := func(d time.Duration) func() bool {
		end := time.Now().Add(d)
		return func() bool { return time.Now().After(end) }
	}
	mint(during(5 * time.Second)) // until a full window is leased
	gates.shut(true)
	ids, failed := mint(during(short))
	gates.shut(false)
	more, failedAfter := mint(during(3 * time.Second))
	fmt.Fprintf(out, "%s: %v out of reach: %d IDs meanwhile and %d after; errors: %v\n", name, short, ids, more, errors.Join(failed, failedAfter))
	if failed != nil || failedAfter != nil {
		return errors.New("the outage was noticed")
	}

	gates.shut(true)
	began := time.Now()
	ids, failed = mint(func() bool { return time.Since(began) > 15*time.Second })
	if !errors.Is(failed, lease.ErrLeaseExpired) {
		return fmt.Errorf("after the end of the window: %v", failed)
	}
	until := l.Until()
	gates.shut(false)
	back := time.Now()
	for {
		if _, err := gen.TryNext(); err == nil {
			break
		}
		if time.Since(back) > time.Minute {
			return errors.New("minting did not resume")
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Fprintf(out, "%s: 15s out of reach: %d IDs up to the end of the window %v after it began, then: %v\n%s: minting resumed %v after the store was back\n",
		name, ids, until.Sub(began).Round(10*time.Millisecond), failed, name, time.Since(back).Round(time.Millisecond))
	return nil
}

// gates are proxies that can be shut. A shut gate holds back all that it gets.
type gates struct {
	listeners []net.Listener
	shutting  sync.RWMutex // is held for writing while the gates are shut
}

func newGates(servers []string) (*gates, []string, error) {
	g := new(gates)
	var by []string
	for _, server := range servers {
		l, err := loopback.Proxy(server, g.connect)
		if err != nil {
			g.close()
			return nil, nil, err
		}
		g.listeners = append(g.listeners, l)
		by = append(by, l.Addr().String())
	}
	return g, by, nil
}

func (g *gates) shut(shut bool) {
	if shut {
		g.shutting.Lock()
	} else {
		g.shutting.Unlock()
	}
}

func (g *gates) close() {
	for _, l := range g.listeners {
		l.Close()
	}
}

func (g *gates) connect(client, server net.Conn) {
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		go func() {
			io.Copy(gate{way[1], &g.shutting}, way[0])
			ended <- struct{}{}
		}()
	}
	<-ended
}

// A gate is one way of a connection.
type gate struct {
	io.Writer
	shutting *sync.RWMutex
}

func (g gate) Write(b []byte) (int, error) {
	g.shutting.RLock()
	defer g.shutting.RUnlock()
	return g.Writer.Write(b)
}

package server

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/certs"
	"github.com/firn-id/firn/server/internal/door"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/resp"
	"github.com/firn-id/firn/server/internal/rpc"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/web"
)

// A Server serves the IDs of a Config. Make a Server with [New].
type Server struct {
	config Config
	log    *slog.Logger
	teller *teller
	set    *supply.Set
	access *access.Access
	certs  *certs.Certs // nil without TLS
	count  *metrics.Metrics

	door *door.Door
	resp *resp.Server
	http *http.Server
	rpc  *rpc.Service
	grpc *grpc.Server

	draining atomic.Bool
}

// New returns a Server. New reads the files of the Config, and opens neither a port nor a store. The error is that of
// [Config.Check], or of a file.
func New(c Config) (*Server, error) {
	made, err := c.check()
	if err != nil {
		return nil, err
	}
	s := &Server{config: c.withDefaults(), count: metrics.New()}
	s.log, s.teller = s.config.Log, newTeller(&s.config)
	if s.access, err = s.config.access(s.reloaded(metrics.Tokens)); err != nil {
		return nil, err
	}
	if s.config.TLS.Cert != "" {
		if s.certs, err = s.config.certificate(s.reloaded(metrics.Certificate)); err != nil {
			return nil, err
		}
	}
	made.Notify, made.Failed = s.event, s.failed
	if s.set, err = supply.New(made.Config); err != nil {
		return nil, err
	}
	s.count.Version(s.config.Version)
	s.count.Collect(s.set)
	s.serveProtocols()
	return s, nil
}

// event counts an event of a lease, and tells the log.
func (s *Server) event(g *supply.Source, e lease.Event) {
	s.count.Event(g, e)
	s.teller.event(g, e)
}

func (s *Server) failed(g *supply.Source, err error) {
	s.count.Failed(g, err)
	s.teller.failed(g, err)
}

// reloaded counts that a file was read again.
func (s *Server) reloaded(file string) func(error) {
	return func(err error) { s.count.Reloaded(file, err) }
}

// serveProtocols makes the servers of the protocols, and the door before them.
func (s *Server) serveProtocols() {
	c := &s.config
	s.resp = resp.New(resp.Config{Set: s.set, Access: s.access, MaxIDs: c.Limits.IDs, Calls: s.count.Protocol("resp"), Log: s.log, Version: c.Version})
	handler := web.New(web.Config{Set: s.set, Access: s.access, MaxIDs: c.Limits.IDs, Calls: s.count.Protocol("http"), Log: s.log,
		Hosts: c.Hosts, Metrics: s.count.Handler(), Draining: s.draining.Load})
	s.http = &http.Server{Handler: handler, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
		// A client that sends or reads too slowly is cut, whatever it does. Headers have the time of the whole request.
		ReadTimeout: 15 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 3 * time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return web.WithConn(ctx, c.(door.Conn)) }}
	calls := rpc.Config{Set: s.set, Access: s.access, MaxIDs: c.Limits.IDs, Calls: s.count.Protocol("grpc"), Log: s.log}
	s.grpc = grpc.NewServer(rpc.Options(calls)...)
	s.rpc = rpc.Register(s.grpc, calls)
	d := door.Config{Limit: c.Limits.Connections, Log: s.log, HTTP: s.count.Protocol("http"), RESP: s.resp.Start, Full: s.full,
		Failed: s.count.HandshakeFailed}
	if s.certs != nil {
		d.TLS = s.certs.Config()
	}
	if s.access.Needed() {
		d.Token = tokenTime
	}
	s.door = door.New(d)
}

// tokenTime is how long a client may take to send a token. Otherwise clients without tokens could have all connections.
var tokenTime = 10 * time.Second // changed by tests

// full answers a connection beyond the limit. A client of gRPC takes the end of the connection for UNAVAILABLE, and HTTP is
// answered by package web.
func (s *Server) full(c net.Conn, p door.Protocol) {
	e := reason.Connections.New("the server has %d connections, as many as its limit allows", s.config.Limits.Connections)
	name := "grpc"
	if p == door.RESP {
		name = "resp"
		c.SetDeadline(time.Now().Add(time.Second))
		fmt.Fprintf(c, "-%s %s\r\n", e.Of.RESP, e)
	}
	s.count.Protocol(name).Refused(e.Of)
}

// An endpoint is where the server listens.
type endpoint struct {
	setting          string // as files name it
	network, address string
	only             bool // RESP alone
}

// endpoints returns where the server listens.
func (s *Server) endpoints() (all []endpoint) {
	for _, a := range s.config.Listen {
		all = append(all, endpoint{"listen", "tcp", a, false})
	}
	if s.config.RESP != "" {
		all = append(all, endpoint{"resp", "tcp", s.config.RESP, true})
	}
	if s.config.Unix != "" {
		all = append(all, endpoint{"unix", "unix", s.config.Unix, false})
	}
	return all
}

// Serve listens, and serves until ctx ends. Then Serve finishes the requests under way, gives the workers back, and
// returns nil: all within Config.Drain and two seconds. The error is a *[ListenError], or that of Config.Ready.
func (s *Server) Serve(ctx context.Context) error {
	var listeners []net.Listener
	var doors sync.WaitGroup
	for _, e := range s.endpoints() {
		ln, err := s.listen(e)
		if err != nil {
			for _, ln := range listeners {
				ln.Close()
			}
			s.giveBack()
			return &ListenError{Setting: e.setting, Address: e.address, Err: err}
		}
		listeners = append(listeners, ln)
		s.log.Info("listening", "network", e.network, "address", ln.Addr().String(), "tls", s.certs != nil && e.network == "tcp", "protocols", protocols(e.only))
		doors.Go(func() { s.door.Serve(ln, e.only) })
	}
	var servers sync.WaitGroup
	servers.Go(func() { s.http.Serve(s.door.Listener(door.HTTP)) })
	servers.Go(func() { s.grpc.Serve(s.door.Listener(door.GRPC)) })
	watch, unwatch := context.WithCancel(context.Background())
	servers.Go(func() { s.access.Watch(watch) })
	if s.certs != nil {
		servers.Go(func() { s.certs.Watch(watch) })
	}
	var failed error
	if s.config.Ready != nil {
		failed = s.config.Ready()
	}
	if failed == nil {
		<-ctx.Done()
	}
	unwatch()
	s.drain(listeners, &doors)
	servers.Wait()
	return failed
}

func protocols(only bool) string {
	if only {
		return "RESP"
	}
	return "RESP, HTTP, gRPC"
}

// listen opens a listener, or takes over an open listener.
func (s *Server) listen(e endpoint) (net.Listener, error) {
	if s.config.OpenSocket != nil {
		return s.config.OpenSocket(e.network, e.address)
	}
	return Listen(e.network, e.address)
}

// Listen opens a listener, as Serve does without Config.OpenSocket. A socket's file that no process listens on any more
// is replaced.
func Listen(network, address string) (net.Listener, error) {
	ln, err := net.Listen(network, address)
	if err == nil || network != "unix" {
		return ln, err
	}
	if c, dial := net.Dial(network, address); dial == nil { // a server is alive
		c.Close()
		return nil, err
	}
	info, stat := os.Lstat(address)
	if stat != nil || info.Mode().Type() != os.ModeSocket || os.Remove(address) != nil {
		return nil, err
	}
	return net.Listen(network, address)
}

// late is how long a listener goes on before it is closed. The kernel has accepted connections that the server has not:
// a close would reset them.
const late = 50 * time.Millisecond

// drain ends the server: within Config.Drain for the requests, and within two more seconds for the workers.
func (s *Server) drain(listeners []net.Listener, doors *sync.WaitGroup) {
	ctx, cancel := context.WithTimeout(context.Background(), s.config.Drain)
	defer cancel()
	s.draining.Store(true)
	s.rpc.Drain()
	for _, ln := range listeners {
		if d, ok := ln.(interface{ SetDeadline(time.Time) error }); ok {
			d.SetDeadline(time.Now().Add(late))
		} else {
			ln.Close()
		}
	}
	doors.Wait()
	for _, ln := range listeners {
		ln.Close()
	}
	s.door.Drain() // no connection is lost between the door and the servers
	// Shutdown of net/http drops a request that it reads meanwhile. Without keep-alive, each connection gets its answer,
	// and ends; idle connections end at once.
	s.http.SetKeepAlivesEnabled(false)
	context.AfterFunc(ctx, s.door.Abort)
	var protocols sync.WaitGroup
	protocols.Go(func() { stopGRPC(ctx, s.grpc) })
	protocols.Go(func() { s.resp.Drain(ctx) })
	protocols.Wait()
	s.door.Wait(ctx)
	s.http.Close()
	s.giveBack()
	s.log.Info("stopped")
}

// giveBack gives the workers back. A store that does not answer delays the end of the server by 1.5 s.
func (s *Server) giveBack() {
	ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
	defer cancel()
	if err := s.set.Close(ctx); err != nil {
		s.log.Warn("a worker was not given back, and comes free at the end of its window", "error", err)
	}
}

// stopGRPC ends all calls gracefully, or at the end of ctx.
func stopGRPC(ctx context.Context, g *grpc.Server) {
	done := make(chan struct{})
	go func() {
		g.GracefulStop()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		g.Stop()
	}
}

// Reload reads the files of tokens and certificates again, at once. A file with a fault changes nothing, and the log says
// what is wrong.
func (s *Server) Reload() {
	s.access.Reload()
	if s.certs != nil {
		s.certs.Reload()
	}
}

package rpc_test

import (
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/rpc"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

// inMemory starts a server without sockets, in a bubble.
func inMemory(t testing.TB) *served {
	time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // bubbles begin before the epoch
	c := rpc.Config{Set: unleased(t)}
	l := bufconn.Listen(1 << 16)
	return serveOn(t, l, l.Dial, c)
}

// unleased returns a generator without a lease.
func unleased(t testing.TB) *supply.Set {
	f, _ := inspect.Lookup("nanoflake")
	return supplytest.New(t, supply.Config{Generators: []supply.Generator{{Name: "orders", Format: f}}})
}

// made returns how many IDs the generators have made.
func made(set *supply.Set) (n uint64) {
	for _, g := range set.All() {
		for _, w := range g.Workers() {
			n += w.Usage.IDs
		}
	}
	return n
}

// TestSlowStream has a client that does not read a stream: the server makes as many IDs as the buffers hold, and other
// calls go on.
func TestSlowStream(t *testing.T) {
	s := serve(t, rpc.Config{Set: unleased(t)}, grpc.WithStaticStreamWindowSize(1<<16))
	const batch = 1 << 14
	stream, err := s.Stream(t.Context(), &firnv1.StreamRequest{Name: "orders", Batch: new(uint32(batch))})
	testkit.OK(t, err)
	seen := map[string]bool{}
	b, err := stream.Recv()
	testkit.OK(t, err)
	check(t, s.set.All()[0], b, seen)
	for range 500 { // the stream has time to make IDs
		b, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: "orders"})
		testkit.OK(t, err)
		check(t, s.set.All()[0], b, seen)
	}
	if n := made(s.set); n > 10*batch {
		t.Errorf("%d IDs for a client that reads %d", n, batch)
	}
	for range 10 {
		b, err := stream.Recv()
		testkit.OK(t, err)
		check(t, s.set.All()[0], b, seen)
	}
}

// A gate is a connection whose reading can stop.
type gate struct {
	net.Conn
	mu sync.Mutex
}

func (g *gate) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	g.mu.Lock()
	defer g.mu.Unlock()
	return n, err
}

// TestNeverReads has a client with many calls that does not read: the memory of its connection is bounded, others get
// IDs, and the client gets all answers when it reads.
func TestNeverReads(t *testing.T) {
	const calls, count = 50, supply.DefaultIDs
	for _, encoding := range []firnv1.Encoding{firnv1.Encoding_ENCODING_PACKED, firnv1.Encoding_ENCODING_TEXT} {
		s := serve(t, rpc.Config{Set: unleased(t)})
		var g *gate
		slow := firnv1.NewFirnClient(s.connect(t, grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			c, err := s.dial()
			g = &gate{Conn: c}
			return g, err
		})))
		testkit.OK(t, testkit.Err(slow.Take(t.Context(), &firnv1.TakeRequest{Name: "orders"})))
		g.mu.Lock()
		var done sync.WaitGroup
		for range calls {
			done.Go(func() {
				b, err := slow.Take(t.Context(), &firnv1.TakeRequest{Name: "orders", Count: new(uint32(count)), Encoding: encoding})
				if err != nil || b.GetCount() != count {
					t.Error(b.GetCount(), err)
				}
			})
		}
		for range 100 {
			if _, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: "orders", Count: new(uint32(1000))}); err != nil {
				t.Error(err)
			}
		}
		if n, most := made(s.set)-100*1000, uint64(rpc.MaxAnswers/8+2*count); n > most {
			t.Errorf("%v: %d IDs wait for a client that does not read, want at most %d", encoding, n, most)
		}
		g.mu.Unlock()
		done.Wait()
	}
}

// TestManyStreams opens more streams than a connection may have memory for.
func TestManyStreams(t *testing.T) {
	s := serve(t, rpc.Config{Set: unleased(t)})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var refused error
	n := 0
	for ; n < 200 && refused == nil; n++ {
		refused = first(s.Stream(ctx, &firnv1.StreamRequest{Name: "orders", Batch: new(uint32(supply.DefaultIDs))}))
	}
	wants(t, refused, codes.Unavailable, reason.Connections, "smaller batches", "another connection")
	if n < 10 {
		t.Errorf("only %d streams", n)
	}
	if _, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: "orders", Count: new(uint32(supply.DefaultIDs))}); err != nil {
		t.Error("a call beside the streams:", err)
	}
	other := firnv1.NewFirnClient(s.connect(t))
	if err := first(other.Stream(t.Context(), &firnv1.StreamRequest{Name: "orders"})); err != nil {
		t.Error("a stream of another connection:", err)
	}
	cancel()
	for { // the streams give back their memory
		if err := first(s.Stream(t.Context(), &firnv1.StreamRequest{Name: "orders", Total: new(uint64(1))})); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
}

// TestCancelled cancels calls at all moments: the connection loses no memory by that. An answer of a call has all the
// memory of the connection.
func TestCancelled(t *testing.T) {
	s := serve(t, rpc.Config{Set: unleased(t)})
	request := &firnv1.TakeRequest{Name: "orders", Count: new(uint32(rpc.MaxAnswers / 8))}
	s.service.MaxIDs = rpc.MaxAnswers
	for i := range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(i)*50*time.Microsecond, cancel)
		s.Take(ctx, request)
		cancel()
	}
	if _, err := s.Take(t.Context(), request); err != nil {
		t.Error(err)
	}
}

// TestDrain ends a server that has streams and calls.
func TestDrain(t *testing.T) {
	s := serve(t, rpc.Config{})
	health := healthpb.NewHealthClient(s.conn)
	watch, err := health.Watch(t.Context(), &healthpb.HealthCheckRequest{})
	testkit.OK(t, err)
	stream, err := s.Stream(t.Context(), &firnv1.StreamRequest{Name: "nanoflake"})
	testkit.OK(t, err)
	if h, err := watch.Recv(); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Error(h, err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Error(err)
	}
	s.service.Drain()
	s.service.Drain() // again, and no panic
	if h, err := watch.Recv(); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Error(h, err)
	}
	_, err = watch.Recv()
	wants(t, err, codes.Unavailable, reason.Draining)
	for _, name := range []string{"", "firn.v1.Firn", "nanoflake"} {
		if h, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: name}); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
			t.Error(name, h, err)
		}
	}
	if _, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: "nanoflake"}); err != nil {
		t.Error("a call before the end:", err)
	}
	wants(t, first(s.Stream(t.Context(), &firnv1.StreamRequest{Name: "nanoflake"})), codes.Unavailable, reason.Draining)
	ended := make(chan struct{})
	go func() {
		s.server.GracefulStop()
		close(ended)
	}()
	var end error // io.EOF would be an end without an error
	for end == nil {
		_, end = stream.Recv()
	}
	wants(t, end, codes.Unavailable, reason.Draining)
	<-ended
}

// TestGone has clients that go in the middle of calls: by a cancelled call, by an orderly end of the connection, and by a
// connection that breaks. The server has as many goroutines after as before.
func TestGone(t *testing.T) {
	s := serve(t, rpc.Config{Set: unleased(t)})
	testkit.OK(t, testkit.Err(s.Take(t.Context(), &firnv1.TakeRequest{Name: "orders"})))
	before := runtime.NumGoroutine()
	for i := range 30 {
		var socket net.Conn
		conn := s.connect(t, grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			var err error
			socket, err = s.dial()
			return socket, err
		}))
		client := firnv1.NewFirnClient(conn)
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			testkit.OK(t, first(client.Stream(ctx, &firnv1.StreamRequest{Name: "orders"})))
		}
		switch i % 3 {
		case 0:
			cancel()
		case 1:
			conn.Close()
		case 2:
			socket.(*net.TCPConn).SetLinger(0)
			socket.Close()
		}
		conn.Close()
		cancel()
	}
	for until := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			all := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before %d: %s", runtime.NumGoroutine(), before, all[:runtime.Stack(all, true)])
		}
	}
}

func TestHealth(t *testing.T) {
	s := serve(t, rpc.Config{})
	health := healthpb.NewHealthClient(s.conn)
	_, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "nosuch"})
	wants(t, err, codes.NotFound, nil)
	watch, err := health.Watch(t.Context(), &healthpb.HealthCheckRequest{Service: "nosuch"})
	testkit.OK(t, err)
	if h, err := watch.Recv(); err != nil || h.GetStatus() != healthpb.HealthCheckResponse_SERVICE_UNKNOWN {
		t.Error(h, err)
	}
	list, err := health.List(t.Context(), &healthpb.HealthListRequest{})
	if err != nil || len(list.GetStatuses()) != 2+len(s.set.All()) {
		t.Error(list, err)
	}
	for name, h := range list.GetStatuses() {
		if h.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Error(name, h)
		}
	}
}

// TestSilentCall begins calls without a message, and a stream without the end of its request. Calls of a client that is only
// slow go on.
func TestSilentCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t)
		for _, v := range []struct {
			method  string
			message any
		}{
			{firnv1.Firn_Take_FullMethodName, nil},
			{firnv1.Firn_Stream_FullMethodName, nil},
			{firnv1.Firn_Stream_FullMethodName, &firnv1.StreamRequest{Name: "orders"}},
		} {
			began := time.Now()
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Hour, cancel)
			call, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, v.method)
			if err == nil && v.message != nil {
				err = call.SendMsg(v.message)
			}
			testkit.OK(t, err)
			wants(t, call.RecvMsg(&firnv1.Batch{}), codes.Canceled, nil)
			if took := time.Since(began); took != 45*time.Second {
				t.Errorf("%s with %v: cut after %v", v.method, v.message, took)
			}
		}
		stream, err := s.Stream(t.Context(), &firnv1.StreamRequest{Name: "orders"})
		for range 100 {
			if err == nil {
				time.Sleep(10 * time.Second)
				_, err = stream.Recv()
			}
		}
		if err != nil {
			t.Error("a stream whose client is slow:", err)
		}
		s.conn.Close()
		s.server.Stop()
	})
}

// TestTrickle has connections whose clients send little or nothing: each is cut in 45 seconds.
func TestTrickle(t *testing.T) {
	var headers strings.Builder
	hpack.NewEncoder(&headers).WriteField(hpack.HeaderField{Name: ":path", Value: firnv1.Firn_Take_FullMethodName})
	for name, begin := range map[string]func(c net.Conn){
		"nothing":          func(net.Conn) {},
		"half the preface": func(c net.Conn) { io.WriteString(c, http2.ClientPreface[:10]) },
		"the preface":      func(c net.Conn) { io.WriteString(c, http2.ClientPreface) },
		"no answer to a ping": func(c net.Conn) {
			io.WriteString(c, http2.ClientPreface)
			http2.NewFramer(c, nil).WriteSettings()
		},
		"headers without an end": func(c net.Conn) {
			io.WriteString(c, http2.ClientPreface)
			f := http2.NewFramer(c, nil)
			f.WriteSettings()
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(headers.String())})
			for f.WriteContinuation(1, false, []byte(headers.String())) == nil {
				time.Sleep(time.Second)
			}
		},
		"a frame without an end": func(c net.Conn) {
			io.WriteString(c, http2.ClientPreface)
			http2.NewFramer(c, nil).WriteSettings()
			_, err := c.Write([]byte{0, 0xff, 0xff, byte(http2.FrameHeaders), 0, 0, 0, 0, 1})
			for err == nil {
				time.Sleep(time.Second)
				_, err = c.Write([]byte{0})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := inMemory(t)
				c, err := s.dial()
				testkit.OK(t, err)
				began := time.Now()
				var sending sync.WaitGroup
				sending.Go(func() { begin(c) })
				io.Copy(io.Discard, c)
				if took := time.Since(began); took > 45*time.Second {
					t.Errorf("cut after %v", took)
				}
				c.Close()
				sending.Wait()
				s.conn.Close()
				s.server.Stop()
			})
		})
	}
}

// TestIdle keeps a connection without calls.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inMemory(t)
		stream, err := s.Stream(t.Context(), &firnv1.StreamRequest{Name: "orders", Total: new(uint64(1))})
		if err == nil {
			time.Sleep(10 * time.Minute)
			_, err = stream.Recv()
		}
		if err != nil {
			t.Error(err)
		}
		s.conn.Close()
		s.server.Stop()
	})
}

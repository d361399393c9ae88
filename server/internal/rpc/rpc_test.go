package rpc_test

import (
	"context"
	"net"
	"slices"
	"strconv"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/rpc"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

// A served is a server, and a client.
type served struct {
	firnv1.FirnClient
	conn    *grpc.ClientConn
	service *rpc.Service
	server  *grpc.Server
	set     *supply.Set
	dial    func() (net.Conn, error)
}

// newSet returns a generator for each format, by the format's name. All have IDs.
func newSet(t testing.TB) *supply.Set {
	t.Helper()
	set := supplytest.New(t, supply.Config{Generators: supplytest.Formats(1)})
	for _, g := range set.All() { // an interval can begin shortly after its grant
		wait.Until(t, "the generator has IDs", func() bool {
			_, err := g.AppendBinary(t.Context(), nil, 1)
			return err == nil
		})
	}
	return set
}

// serve starts a server with a Config, on a port of its own.
func serve(t testing.TB, c rpc.Config, options ...grpc.DialOption) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	return serveOn(t, l, func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }, c, options...)
}

func serveOn(t testing.TB, l net.Listener, dial func() (net.Conn, error), c rpc.Config, options ...grpc.DialOption) *served {
	t.Helper()
	if c.Set == nil {
		c.Set = newSet(t)
	}
	s := grpc.NewServer(rpc.Options(c)...)
	service := rpc.Register(s, c)
	go s.Serve(l)
	t.Cleanup(s.Stop)
	out := &served{service: service, server: s, set: c.Set, dial: dial}
	out.conn = out.connect(t, options...)
	out.FirnClient = firnv1.NewFirnClient(out.conn)
	return out
}

// connect returns another connection. Options come last.
func (s *served) connect(t testing.TB, options ...grpc.DialOption) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:server", append([]grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return s.dial() })}, options...)...)
	testkit.OK(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// check checks a batch, and adds its IDs to seen.
func check(t testing.TB, g *supply.Source, b *firnv1.Batch, seen map[string]bool) {
	t.Helper()
	if b.GetFormat() != g.Format.Name() || b.GetWidth() != uint32(g.Size) || b.GetCount() == 0 {
		t.Fatalf("%s: format %q, width %d, count %d", g.Name, b.GetFormat(), b.GetWidth(), b.GetCount())
	}
	var ids []string
	if len(b.GetTexts()) > 0 {
		if len(b.GetPacked()) > 0 || b.GetByteOrder() != firnv1.ByteOrder_BYTE_ORDER_UNSPECIFIED {
			t.Errorf("%s: texts, %d bytes and byte order %v", g.Name, len(b.GetPacked()), b.GetByteOrder())
		}
		ids = b.GetTexts()
	} else {
		if b.GetByteOrder() != firnv1.ByteOrder_BYTE_ORDER_BIG_ENDIAN || len(b.GetPacked())%g.Size != 0 {
			t.Fatalf("%s: %d bytes with byte order %v", g.Name, len(b.GetPacked()), b.GetByteOrder())
		}
		for p := b.GetPacked(); len(p) > 0; p = p[g.Size:] {
			v, err := g.Format.InspectBinary(p[:g.Size], inspect.Settings(g.Recipe.Settings))
			if err != nil {
				t.Fatalf("%s: %v", g.Name, err)
			}
			ids = append(ids, v.ID)
		}
	}
	if len(ids) != int(b.GetCount()) {
		t.Errorf("%s: %d IDs, but the count %d", g.Name, len(ids), b.GetCount())
	}
	for _, id := range ids {
		if _, err := g.Read(id); err != nil || seen[id] {
			t.Fatalf("%s: ID %q: again %t, %v", g.Name, id, seen[id], err)
		}
		seen[id] = true
	}
}

func TestTake(t *testing.T) {
	s := serve(t, rpc.Config{})
	for _, g := range s.set.All() {
		seen := map[string]bool{}
		for _, encoding := range []firnv1.Encoding{firnv1.Encoding_ENCODING_UNSPECIFIED, firnv1.Encoding_ENCODING_PACKED, firnv1.Encoding_ENCODING_TEXT} {
			for _, n := range []*uint32{nil, proto.Uint32(1), proto.Uint32(2), proto.Uint32(3000)} {
				b, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: g.Name, Count: n, Encoding: encoding})
				testkit.OK(t, err)
				if want := max(1, (&firnv1.TakeRequest{Count: n}).GetCount()); b.GetCount() != want {
					t.Errorf("%s: %d IDs of %d", g.Name, b.GetCount(), want)
				}
				check(t, g, b, seen)
			}
		}
	}
}

func TestStream(t *testing.T) {
	s := serve(t, rpc.Config{})
	for _, g := range s.set.All() {
		seen := map[string]bool{}
		for _, encoding := range []firnv1.Encoding{firnv1.Encoding_ENCODING_PACKED, firnv1.Encoding_ENCODING_TEXT} {
			for _, v := range []struct {
				batch *uint32
				total uint64
			}{{nil, 1}, {nil, 5000}, {proto.Uint32(1), 10}, {proto.Uint32(1000), 1000}, {proto.Uint32(1000), 2001}, {proto.Uint32(65536), 7}} {
				stream, err := s.Stream(t.Context(), &firnv1.StreamRequest{Name: g.Name, Batch: v.batch, Total: &v.total, Encoding: encoding})
				testkit.OK(t, err)
				var got uint64
				for got < v.total {
					b, err := stream.Recv()
					if err != nil {
						t.Fatalf("%s: after %d of %d: %v", g.Name, got, v.total, err)
					}
					most := uint32(rpc.DefaultBatch)
					if v.batch != nil {
						most = *v.batch
					}
					if b.GetCount() > most {
						t.Errorf("%s: a batch of %d, the most is %d", g.Name, b.GetCount(), most)
					}
					check(t, g, b, seen)
					got += uint64(b.GetCount())
				}
				if got != v.total {
					t.Errorf("%s: %d IDs of %d", g.Name, got, v.total)
				}
				if b, err := stream.Recv(); err == nil || err.Error() != "EOF" {
					t.Errorf("%s: after the end: %v, %v", g.Name, b, err)
				}
			}
		}
	}
}

// TestInspect: the candidates are the readings of the library, with a generator's name and without.
func TestInspect(t *testing.T) {
	s := serve(t, rpc.Config{})
	for _, g := range s.set.All() {
		id, err := g.AppendTexts(t.Context(), nil, 1, "", "")
		testkit.OK(t, err)
		want, err := g.Read(string(id))
		testkit.OK(t, err)
		for _, name := range []string{"", g.Name} {
			a, err := s.Inspect(t.Context(), &firnv1.InspectRequest{Text: want.ID, Name: name})
			testkit.OK(t, err)
			i := slices.IndexFunc(a.GetCandidates(), func(c *firnv1.Candidate) bool { return c.GetFormat() == g.Format.Name() })
			if i < 0 {
				t.Fatalf("%s: %v", want.ID, a)
			}
			c := a.GetCandidates()[i]
			integer := ""
			if c.Integer != nil {
				integer = strconv.FormatUint(c.GetInteger(), 10)
			}
			if c.GetText() != want.ID || c.GetHex() != want.Hex || integer != want.Int || !c.GetTime().AsTime().Equal(want.Time) ||
				c.GetUnixMs() != want.Time.UnixMilli() || len(c.GetFields()) != len(want.Fields) || !slices.Contains(c.GetGenerators(), g.Name) {
				t.Errorf("%s: %v, want %+v", want.ID, c, want)
			}
			for i, f := range c.GetFields() {
				if w := want.Fields[i]; f.GetName() != w.Name || f.GetValue() != w.Value || int(f.GetBits()) != w.Bits {
					t.Errorf("%s: field %v, want %+v", want.ID, f, w)
				}
			}
		}
	}
}

func TestList(t *testing.T) {
	s := serve(t, rpc.Config{})
	a, err := s.List(t.Context(), &firnv1.ListRequest{})
	testkit.OK(t, err)
	if len(a.GetGenerators()) != len(s.set.All()) {
		t.Fatal(a)
	}
	for i, g := range s.set.All() {
		v := a.GetGenerators()[i]
		if v.GetName() != g.Name || v.GetFormat() != g.Format.Name() || v.GetState() != firnv1.State_STATE_READY || v.GetWidth() != uint32(g.Size) ||
			v.GetWorkers() != 1 || v.GetReady() != 1 || v.GetPerSecond() != g.PerSecond() || !v.GetEpoch().AsTime().Equal(g.Shape.Start()) ||
			v.GetTick().AsDuration() != g.Shape.Unit {
			t.Error(v)
		}
	}
}

package advice

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/firn-id/firn/internal/testing/advice"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/server"
	"github.com/firn-id/firn/server/firnv1"
)

// dial opens a connection of gRPC that ends with the test.
func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// said returns the error of a call as people read the error.
func said(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(status.Convert(err).Message())
}

// called is a fault of a call. Each way changes a part of the call, and makes the call again.
func called[R any](call func(R) error, request R, says []string, then ...R) advice.Fault {
	f := advice.Fault{Name: "a call", Meet: func(t *testing.T) string { return advice.Text(t, call(request)) }, Ways: advice.Ways{}}
	for i, r := range then {
		f.Ways[says[i]] = func(*testing.T) error { return call(r) }
	}
	return f
}

func calls(t *testing.T) []advice.Fault {
	dir := t.TempDir()
	writeToken(t, dir)
	open, _ := serve(t, server.Config{})
	locked, _ := serve(t, server.Config{Tokens: filepath.Join(dir, "tokens.toml")})
	firn := firnv1.NewFirnClient(dial(t, open[0]))
	guarded := firnv1.NewFirnClient(dial(t, locked[0]))
	health := healthpb.NewHealthClient(dial(t, open[0]))
	const name = "nanoflake"

	take := func(r *firnv1.TakeRequest) error {
		_, err := firn.Take(t.Context(), r)
		return said(err)
	}
	stream := func(r *firnv1.StreamRequest) error { return first(t.Context(), firn, r) }
	authorized := func(values []string) error {
		ctx := t.Context()
		for _, v := range values {
			ctx = metadata.AppendToOutgoingContext(ctx, "authorization", v)
		}
		_, err := guarded.Take(ctx, &firnv1.TakeRequest{Name: name})
		return said(err)
	}
	check := func(service string) error {
		_, err := health.Check(t.Context(), &healthpb.HealthCheckRequest{Service: service})
		return said(err)
	}
	return []advice.Fault{
		called(take, &firnv1.TakeRequest{Name: name, Count: new(uint32(0))}, []string{"ask for 1", "to 65536 IDs"},
			&firnv1.TakeRequest{Name: name, Count: new(uint32(1))}, &firnv1.TakeRequest{Name: name, Count: new(uint32(65536))}),
		called(take, &firnv1.TakeRequest{Name: name, Encoding: 7}, []string{"use ENCODING_PACKED", "or ENCODING_TEXT"},
			&firnv1.TakeRequest{Name: name, Encoding: firnv1.Encoding_ENCODING_PACKED}, &firnv1.TakeRequest{Name: name, Encoding: firnv1.Encoding_ENCODING_TEXT}),
		called(stream, &firnv1.StreamRequest{Name: name, Total: new(uint64(0))}, []string{"ask for 1 ID at least", "or leave total out"},
			&firnv1.StreamRequest{Name: name, Total: new(uint64(1))}, &firnv1.StreamRequest{Name: name}),
		called(authorized, nil, []string{"send the metadata authorization: Bearer TOKEN"}, []string{"Bearer " + secret}),
		called(authorized, []string{secret}, []string{"send Bearer TOKEN"}, []string{"Bearer " + secret}),
		called(authorized, []string{"Bearer " + secret, "Bearer " + secret}, []string{"send one token"}, []string{"Bearer " + secret}),
		called(check, "other", []string{"ask for a generator by its name", "or for \"\""}, name, ""),
		manyStreams(t, open[0]),
		draining(t),
	}
}

// first begins a stream, and returns the error of its first message. The stream lasts as long as the context.
func first(ctx context.Context, c firnv1.FirnClient, r *firnv1.StreamRequest) error {
	s, err := c.Stream(ctx, r)
	if err == nil {
		_, err = s.Recv()
	}
	return said(err)
}

// manyStreams has as many streams with large batches as the memory of a connection allows.
func manyStreams(t *testing.T, address string) advice.Fault {
	const most = 65536
	begin := func(n int, batch uint32) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := firnv1.NewFirnClient(dial(t, address))
		for range n {
			if err := first(ctx, c, &firnv1.StreamRequest{Name: "nanoflake", Batch: new(batch)}); err != nil {
				return err
			}
		}
		return nil
	}
	const n = 16 // 15 fit
	return advice.Fault{Name: "many streams", Meet: func(t *testing.T) string { return advice.Text(t, begin(n, most)) }, Ways: advice.Ways{
		"ask for smaller batches":   func(*testing.T) error { return begin(n, most/2) },
		"or use another connection": func(*testing.T) error { return errors.Join(begin(n/2, most), begin(n/2, most)) },
	}}
}

// draining is a stream of a server that stops. The next connection reaches another server at the same address.
func draining(t *testing.T) advice.Fault {
	path := filepath.Join(t.TempDir(), "s")
	return advice.Fault{Name: "a server that stops", Meet: func(t *testing.T) string {
		_, stop := serve(t, server.Config{Unix: path, Listen: []string{}})
		s, err := firnv1.NewFirnClient(dial(t, "unix:"+path)).Stream(t.Context(), &firnv1.StreamRequest{Name: "nanoflake"})
		if err != nil {
			t.Fatal(err)
		}
		for stopping := false; err == nil; stopping = true {
			if _, err = s.Recv(); !stopping {
				go stop()
			}
		}
		stop()
		return advice.Text(t, said(err))
	}, Ways: advice.Ways{"connect again": func(t *testing.T) error {
		serve(t, server.Config{Unix: path, Listen: []string{}})
		_, err := firnv1.NewFirnClient(dial(t, "unix:"+path)).Take(t.Context(), &firnv1.TakeRequest{Name: "nanoflake"})
		return said(err)
	}}}
}

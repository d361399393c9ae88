package rpc_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/rpc"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

const tokens = `
[tokens.all]
token = "a-token-for-everything"
[tokens.some]
token = "a-token-for-sno-alone"
generators = ["sno"]
read = false
[tokens.slow]
token = "a-token-with-a-rate"
rate = 10000
`

// withTokens starts a server with a file of tokens.
func withTokens(t *testing.T) (s *served, a *access.Access, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "tokens.toml")
	testkit.OK(t, os.WriteFile(path, []byte(tokens), 0o600))
	a, err := access.New(access.Config{Path: path, Burst: 1000})
	testkit.OK(t, err)
	return serve(t, rpc.Config{Access: a, MaxIDs: 2000}), a, path
}

// as returns the context of calls with values of authorization.
func as(t *testing.T, values ...string) context.Context {
	ctx := t.Context()
	for _, v := range values {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", v)
	}
	return ctx
}

func TestTokens(t *testing.T) {
	s, _, _ := withTokens(t)
	for _, v := range []struct {
		values          []string
		sno, other, see *reason.Reason // nil for an answer
	}{
		{nil, reason.Token, reason.Token, reason.Token},
		{[]string{"Bearer "}, reason.Token, reason.Token, reason.Token},
		{[]string{"a-token-for-everything"}, reason.Token, reason.Token, reason.Token},
		{[]string{"Basic a-token-for-everything"}, reason.Token, reason.Token, reason.Token},
		{[]string{"Bearer a-token-for-everything", "Bearer a-token-for-everything"}, reason.Token, reason.Token, reason.Token},
		{[]string{"Bearer a-token-for-everythin"}, reason.WrongToken, reason.WrongToken, reason.WrongToken},
		{[]string{"Bearer a-token-for-everything"}, nil, nil, nil},
		{[]string{"bearer a-token-for-everything"}, nil, nil, nil},
		{[]string{"Bearer a-token-for-sno-alone"}, nil, reason.Permission, reason.Permission},
	} {
		ctx := as(t, v.values...)
		is := func(what string, err error, of *reason.Reason) {
			t.Helper()
			code := codes.OK
			if of != nil {
				code = codes.Code(of.GRPC)
			}
			if wants(t, err, code, of); t.Failed() {
				t.Fatalf("%q: %s", v.values, what)
			}
		}
		_, err := s.Take(ctx, &firnv1.TakeRequest{Name: "sno"})
		is("Take", err, v.sno)
		is("Stream", first(s.Stream(ctx, &firnv1.StreamRequest{Name: "sno", Total: new(uint64(1))})), v.sno)
		_, err = s.Take(ctx, &firnv1.TakeRequest{Name: "nanoflake"})
		is("Take", err, v.other)
		is("Stream", first(s.Stream(ctx, &firnv1.StreamRequest{Name: "nanoflake", Total: new(uint64(1))})), v.other)
		_, err = s.List(ctx, &firnv1.ListRequest{})
		is("List", err, v.see)
		_, err = s.Inspect(ctx, &firnv1.InspectRequest{Text: "0123456789abc"})
		is("Inspect", err, v.see)
		for _, method := range []string{"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"} {
			call, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
			if err == nil { // the messages of both versions are the same
				call.SendMsg(&reflectionpb.ServerReflectionRequest{MessageRequest: &reflectionpb.ServerReflectionRequest_ListServices{}})
				err = call.RecvMsg(&reflectionpb.ServerReflectionResponse{})
			}
			is(method, err, v.see)
		}
		_, err = healthpb.NewHealthClient(s.conn).Check(ctx, &healthpb.HealthCheckRequest{})
		is("health", err, nil)
	}
}

// TestUnseen asks with a token that may not read: the answers name neither generators nor their stores.
func TestUnseen(t *testing.T) {
	s, a, _ := withTokens(t)
	set := supplytest.New(t, supply.Config{Wait: time.Millisecond, Generators: []supply.Generator{supplytest.Down("sno", "the secret")}})
	down := serve(t, rpc.Config{Access: a, Set: set})
	all, some := as(t, "Bearer a-token-for-everything"), as(t, "Bearer a-token-for-sno-alone")
	for _, v := range []struct {
		of    *served
		ctx   context.Context
		name  string
		count uint32
		want  string
	}{
		{s, some, "nope", 1, `unknown: no generator "nope"`},
		{s, some, "nanoflake", 0, "permission: the token some may not take IDs of the generator nanoflake"},
		{down, some, "sno", 1, "starting: " + reason.Starting.Means},
		{s, all, "nope", 1, "scru160"},
		{down, all, "sno", 1, "the secret"},
	} {
		_, take := v.of.Take(v.ctx, &firnv1.TakeRequest{Name: v.name, Count: &v.count})
		stream := first(v.of.Stream(v.ctx, &firnv1.StreamRequest{Name: v.name, Batch: &v.count}))
		for _, err := range []error{take, stream} {
			for began := time.Now(); v.of == down && v.want == "the secret" && !strings.Contains(err.Error(), v.want) && time.Since(began) < time.Minute; {
				_, err = v.of.Take(v.ctx, &firnv1.TakeRequest{Name: v.name}) // the store is still opening
			}
			if got := status.Convert(err).Message(); got != v.want && (v.ctx == some || !strings.Contains(got, v.want)) {
				t.Errorf("%s: %q, want %q", v.name, got, v.want)
			}
		}
	}
}

// TestRevoked revokes the token of a stream that runs.
func TestRevoked(t *testing.T) {
	s, a, path := withTokens(t)
	stream, err := s.Stream(as(t, "Bearer a-token-for-everything"), &firnv1.StreamRequest{Name: "sno"})
	if err == nil {
		_, err = stream.Recv()
	}
	testkit.OK(t, err)
	testkit.OK(t, os.WriteFile(path, []byte("[tokens.new]\ntoken = \"quite-another-token\"\n"), 0o600))
	a.Reload()
	for err == nil {
		_, err = stream.Recv()
	}
	wants(t, err, codes.Unauthenticated, reason.WrongToken)
	_, err = s.Take(as(t, "Bearer a-token-for-everything"), &firnv1.TakeRequest{Name: "sno"})
	wants(t, err, codes.Unauthenticated, reason.WrongToken)
	if _, err = s.Take(as(t, "Bearer quite-another-token"), &firnv1.TakeRequest{Name: "sno"}); err != nil {
		t.Error(err)
	}
}

// TestLimit takes more than a token may: a call ends, and a stream waits.
func TestLimit(t *testing.T) {
	s, _, _ := withTokens(t)
	ctx := as(t, "Bearer a-token-with-a-rate")
	var err error
	for err == nil {
		_, err = s.Take(ctx, &firnv1.TakeRequest{Name: "nanoflake", Count: new(uint32(2000))})
	}
	wants(t, err, codes.ResourceExhausted, reason.Limit, "10000 IDs a second")
	if d := status.Convert(err).Details(); len(d) != 2 || d[1].(*errdetails.RetryInfo).GetRetryDelay().AsDuration() <= 0 {
		t.Error(d)
	}
	began := time.Now()
	const total = 16_000 // at least half a second, after the burst of 10 000
	stream, err := s.Stream(ctx, &firnv1.StreamRequest{Name: "nanoflake", Batch: new(uint32(1000)), Total: new(uint64(total))})
	seen := map[string]bool{}
	for len(seen) < total && err == nil {
		var b *firnv1.Batch
		if b, err = stream.Recv(); err == nil {
			g, _ := s.set.Find("nanoflake")
			check(t, g, b, seen)
		}
	}
	if err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("%d IDs in %v are more than the rate", total, took)
	}
}

// TestLimitCancelled has streams that wait for their token, while the client goes, and while the server ends.
func TestLimitCancelled(t *testing.T) {
	s, _, _ := withTokens(t)
	ctx, cancel := context.WithCancel(as(t, "Bearer a-token-with-a-rate"))
	stream, err := s.Stream(ctx, &firnv1.StreamRequest{Name: "nanoflake", Batch: new(uint32(2000))})
	for range 10 {
		if err == nil {
			_, err = stream.Recv()
		}
	}
	testkit.OK(t, err)
	cancel()
	for err == nil {
		_, err = stream.Recv()
	}
	wants(t, err, codes.Canceled, nil)
	stream, err = s.Stream(as(t, "Bearer a-token-with-a-rate"), &firnv1.StreamRequest{Name: "nanoflake", Batch: new(uint32(2000))})
	if err == nil {
		_, err = stream.Recv()
	}
	s.service.Drain()
	for err == nil {
		_, err = stream.Recv()
	}
	wants(t, err, codes.Unavailable, reason.Draining)
	s.server.GracefulStop()
}

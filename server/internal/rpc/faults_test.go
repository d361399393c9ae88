package rpc_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/rpc"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/server/internal/supply/supplytest"
)

// wants fails the test unless an error has a code, a reason in its details, and the words.
func wants(t testing.TB, err error, code codes.Code, of *reason.Reason, words ...string) {
	t.Helper()
	s := status.Convert(err)
	var got string
	for _, d := range s.Details() {
		if i, ok := d.(*errdetails.ErrorInfo); ok {
			got = i.GetReason()
		}
	}
	if s.Code() != code || of != nil && got != of.Name || of == nil && got != "" {
		t.Errorf("error %v with reason %q, want %v", err, got, code)
	}
	for _, w := range words {
		if !strings.Contains(s.Message(), w) {
			t.Errorf("error %v, want %q", err, w)
		}
	}
}

// first returns the error that a stream begins with.
func first(stream grpc.ServerStreamingClient[firnv1.Batch], err error) error {
	if err != nil {
		return err
	}
	_, err = stream.Recv()
	return err
}

func TestBadRequests(t *testing.T) {
	s := serve(t, rpc.Config{MaxIDs: 1000})
	ctx := t.Context()
	for _, v := range []struct {
		take  *firnv1.TakeRequest
		code  codes.Code
		of    *reason.Reason
		words []string
	}{
		{&firnv1.TakeRequest{}, codes.NotFound, reason.Unknown, []string{"nanoflake", "sno"}},
		{&firnv1.TakeRequest{Name: "nosuch"}, codes.NotFound, reason.Unknown, []string{"nosuch"}},
		{&firnv1.TakeRequest{Name: strings.Repeat("x", 60_000)}, codes.NotFound, reason.Unknown, []string{"…"}},
		{&firnv1.TakeRequest{Name: "sno", Count: new(uint32(0))}, codes.InvalidArgument, reason.Count, []string{"count is 0", "1 to 1000"}},
		{&firnv1.TakeRequest{Name: "sno", Count: new(uint32(1001))}, codes.InvalidArgument, reason.Count, []string{"count is 1001"}},
		{&firnv1.TakeRequest{Name: "sno", Count: new(uint32(math.MaxUint32))}, codes.InvalidArgument, reason.Count, nil},
		{&firnv1.TakeRequest{Name: "sno", Encoding: 3}, codes.InvalidArgument, reason.Form, []string{"ENCODING_TEXT"}},
		{&firnv1.TakeRequest{Name: "sno", Encoding: -1}, codes.InvalidArgument, reason.Form, nil},
		{&firnv1.TakeRequest{Name: strings.Repeat("x", 70_000)}, codes.ResourceExhausted, nil, []string{"65536"}},
	} {
		_, err := s.Take(ctx, v.take)
		wants(t, err, v.code, v.of, v.words...)
		err = first(s.Stream(ctx, &firnv1.StreamRequest{Name: v.take.GetName(), Batch: v.take.Count, Encoding: v.take.GetEncoding()}))
		wants(t, err, v.code, v.of)
	}
	wants(t, first(s.Stream(ctx, &firnv1.StreamRequest{Name: "sno", Total: new(uint64(0))})), codes.InvalidArgument, reason.Count, "total is 0")
	if err := first(s.Stream(ctx, &firnv1.StreamRequest{Name: "sno", Total: new(uint64(math.MaxUint64))})); err != nil {
		t.Error(err)
	}
	if _, err := s.Take(ctx, &firnv1.TakeRequest{Name: "sno", Count: new(uint32(1000))}); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "!", strings.Repeat("0", 101), "\x00", "нет"} {
		_, err := s.Inspect(ctx, &firnv1.InspectRequest{Text: text})
		wants(t, err, codes.InvalidArgument, reason.ID)
		_, err = s.Inspect(ctx, &firnv1.InspectRequest{Text: text, Name: "sno"})
		wants(t, err, codes.InvalidArgument, reason.ID)
	}
	_, err := s.Inspect(ctx, &firnv1.InspectRequest{Text: "1", Name: "nosuch"})
	wants(t, err, codes.NotFound, reason.Unknown)
}

// raw is a codec for messages that are bytes.
type raw struct{ encoding.CodecV2 }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}
func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}
func (raw) Name() string { return "proto" }

// TestMalformed sends messages that are not protobuf.
func TestMalformed(t *testing.T) {
	s := serve(t, rpc.Config{})
	for _, message := range []string{
		"\x0a",                 // a field without a length
		"\x0a\x05sno",          // a field beyond the end
		"\x0a\x02\xff\xfe",     // a name that is not UTF-8
		"\x10\xff\xff\xff\xff", // a number without an end
		"\x07",                 // a type of fields that protobuf does not have
		"\x00\x00",             // the number 0 of fields
		"GET / HTTP/1.1\r\n\r\n",
		strings.Repeat("\xff", 1000),
	} {
		for _, method := range []string{firnv1.Firn_Take_FullMethodName, firnv1.Firn_Inspect_FullMethodName, firnv1.Firn_Stream_FullMethodName,
			firnv1.Firn_List_FullMethodName, "/grpc.health.v1.Health/Check"} {
			if !strings.HasSuffix(method, "Take") && message[0] == '\x0a' && strings.HasSuffix(message, "\xfe") {
				continue // not a string in all requests
			}
			var answer []byte
			err := s.conn.Invoke(t.Context(), method, []byte(message), &answer, grpc.ForceCodecV2(raw{}))
			wants(t, err, codes.InvalidArgument, reason.Request, "not protobuf")
		}
	}
	if _, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: "sno"}); err != nil {
		t.Error("after malformed messages:", err)
	}
}

func TestUnknownMethod(t *testing.T) {
	s := serve(t, rpc.Config{})
	for _, method := range []string{"/firn.v1.Firn/Tak", "/firn.v2.Firn/Take", "/x/y", "/" + strings.Repeat("x", 5000) + "/y"} {
		err := s.conn.Invoke(t.Context(), method, &firnv1.TakeRequest{}, &firnv1.Batch{})
		wants(t, err, codes.Unimplemented, reason.NoPath, "Take", "Stream", "Inspect", "List")
	}
}

// TestStarting asks a generator whose store does not open.
func TestStarting(t *testing.T) {
	set := supplytest.New(t, supply.Config{Wait: time.Millisecond, Generators: []supply.Generator{supplytest.Down("orders", "the store is down")}})
	s := serve(t, rpc.Config{Set: set})
	_, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: "orders"})
	wants(t, err, codes.Unavailable, reason.Starting, "orders")
	wants(t, first(s.Stream(t.Context(), &firnv1.StreamRequest{Name: "orders"})), codes.Unavailable, reason.Starting)
	list, err := s.List(t.Context(), &firnv1.ListRequest{})
	if err != nil || len(list.GetGenerators()) != 1 {
		t.Fatal(list, err)
	}
	if g := list.GetGenerators()[0]; g.GetState() != firnv1.State_STATE_STARTING || g.GetReady() != 0 || g.GetWorkers() != 1 || g.GetProblem() == "" {
		t.Error(g)
	}
}

// TestDeadline waits for a worker no longer than the client does.
func TestDeadline(t *testing.T) {
	set := supplytest.New(t, supply.Config{Wait: time.Hour, Generators: []supply.Generator{supplytest.Down("orders", "the store is down")}})
	s := serve(t, rpc.Config{Set: set})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Take(ctx, &firnv1.TakeRequest{Name: "orders"})
	wants(t, err, codes.DeadlineExceeded, nil)
	wants(t, first(s.Stream(ctx, &firnv1.StreamRequest{Name: "orders"})), codes.DeadlineExceeded, nil)
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err = s.Take(ctx, &firnv1.TakeRequest{Name: "orders"})
	wants(t, err, codes.Canceled, nil)
	s.server.GracefulStop() // hangs if a handler still waits
}

// TestExhausted takes more from a stream than a generator makes while a request waits: batches are smaller, and the
// stream goes on. On a busy machine, a stream may get no ID while a request waits, and end: the test tries another.
func TestExhausted(t *testing.T) {
	f, _ := inspect.Lookup("nanoflake")
	set := supplytest.New(t, supply.Config{Wait: 5 * time.Millisecond, Generators: []supply.Generator{{Name: "orders", Format: f}}})
	s := serve(t, rpc.Config{Set: set})
	total := uint64(set.All()[0].PerSecond() / 20)
	seen := map[string]bool{}
	for range 50 {
		stream, err := s.Stream(t.Context(), &firnv1.StreamRequest{Name: "orders", Batch: new(uint32(supply.DefaultIDs)), Total: &total})
		testkit.OK(t, err)
		var got uint64
		smaller := 0
		for {
			b, err := stream.Recv()
			if err == io.EOF {
				if got != total {
					t.Fatalf("%d IDs of %d", got, total)
				}
				break
			}
			if err != nil {
				wants(t, err, codes.Unavailable, reason.Exhausted)
				break
			}
			check(t, set.All()[0], b, seen)
			if got += uint64(b.GetCount()); b.GetCount() < supply.DefaultIDs {
				smaller++
			}
		}
		if smaller > 2 {
			return
		}
	}
	t.Error("no stream has gone on after a smaller batch")
}

// TestPanic has a server with a fault.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	c := rpc.Config{Log: slog.New(slog.NewTextHandler(&log, nil))}
	s := serve(t, c)
	s.service.Set = nil // the service's own
	_, err := s.Take(t.Context(), &firnv1.TakeRequest{Name: "sno"})
	wants(t, err, codes.Internal, reason.Internal)
	wants(t, first(s.Stream(t.Context(), &firnv1.StreamRequest{Name: "sno"})), codes.Internal, reason.Internal)
	_, err = s.List(t.Context(), &firnv1.ListRequest{})
	wants(t, err, codes.Internal, reason.Internal)
	s.server.GracefulStop() // before the log is read
	if got := log.String(); strings.Count(got, "panicked") != 3 || !strings.Contains(got, "/firn.v1.Firn/Stream") || !strings.Contains(got, "firn.go") {
		t.Error(got)
	}
}

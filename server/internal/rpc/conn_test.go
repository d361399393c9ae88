package rpc

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/firnv1"
)

// connected returns the context of the calls of a connection.
func connected(t *testing.T) context.Context { return conns{}.TagConn(t.Context(), nil) }

// answer makes an answer that needs all memory for answers of a connection, as grpc writes it.
func answer(ctx context.Context, handler grpc.UnaryHandler) (mem.BufferSlice, error) {
	a, err := queue(ctx, &firnv1.TakeRequest{Count: new(uint32(maxAnswers))}, nil, handler)
	if err != nil {
		return nil, err
	}
	return codec{encoding.GetCodecV2("proto")}.Marshal(a)
}

func long(context.Context, any) (any, error) {
	return &firnv1.Batch{Packed: make([]byte, maxAnswers)}, nil
}

// TestDropped drops the buffers of answers, as grpc does with the answer of a call that was just cancelled.
func TestDropped(t *testing.T) {
	all := connected(t)
	for range 3 {
		testkit.OK(t, testkit.Err(answer(all, long)))
		for waiting := true; waiting; {
			runtime.GC()
			ctx, cancel := context.WithTimeout(all, time.Millisecond)
			if a, err := answer(ctx, long); err == nil {
				a.Free()
				waiting = false
			}
			cancel()
		}
	}
}

// TestPaidOnce frees buffers, whose memory the garbage collector finds later, and has calls that fail.
func TestPaidOnce(t *testing.T) {
	ctx := connected(t)
	fault := errors.New("a fault")
	for range 100 {
		a, err := answer(ctx, long)
		testkit.OK(t, err)
		a.Free()
		if _, err := answer(ctx, func(context.Context, any) (any, error) { return nil, fault }); err != fault {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.GC()
	if c := ctx.Value(connKey{}).(*conn); !c.answers.TryAcquire(maxAnswers) || c.answers.TryAcquire(1) {
		t.Error("the connection has another amount of memory")
	}
}

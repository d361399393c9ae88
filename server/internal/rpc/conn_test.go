package rpc

import (
	"context"
	"runtime"
	"testing"
	"time"

	"google.golang.org/grpc/mem"
)

// TestDropped drops the buffers of answers, as grpc does with the answer of a call that was just cancelled.
func TestDropped(t *testing.T) {
	c := connOf(conns{}.TagConn(t.Context(), nil))
	for range 3 {
		buffer, owner, err := c.answer(t.Context(), 2*maxAnswers)
		if err != nil {
			t.Fatal(err)
		}
		_ = mem.NewBuffer(buffer, owner)
		for waiting := true; waiting; {
			runtime.GC()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			buffer, owner, err := c.answer(ctx, 2*maxAnswers)
			if err == nil {
				mem.NewBuffer(buffer, owner).Free()
				waiting = false
			}
			cancel()
		}
	}
}

// TestPaidOnce frees a buffer, whose memory the garbage collector finds later.
func TestPaidOnce(t *testing.T) {
	c := connOf(conns{}.TagConn(t.Context(), nil))
	for range 100 {
		buffer, owner, err := c.answer(t.Context(), maxAnswers)
		if err != nil {
			t.Fatal(err)
		}
		mem.NewBuffer(buffer, owner).Free()
	}
	runtime.GC()
	runtime.GC()
	if !c.answers.TryAcquire(maxAnswers) || c.answers.TryAcquire(1) {
		t.Error("the connection has another amount of memory")
	}
}

func TestBuffers(t *testing.T) {
	var b buffers
	for _, length := range []int{0, 1, 2, 3, 1000, 1024, 1025, 1 << 20} {
		for range 3 {
			p := b.Get(length)
			if len(*p) != length || cap(*p) < length || cap(*p) > 2*max(length, 1) {
				t.Errorf("%d bytes: length %d, capacity %d", length, len(*p), cap(*p))
			}
			*p = (*p)[:length/2]
			b.Put(p)
			other := make([]byte, 3)
			b.Put(&other)
		}
	}
}

package rpc

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/tap"

	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/reason"
)

// A conn bounds the memory of one connection, whose client may never read. grpc takes a message of any length from a
// handler, and keeps the message until the client reads.
type conn struct {
	answers *semaphore.Weighted // bytes of answers of Take between the making and the writing
	batches *semaphore.Weighted // bytes that streams may come to have
}

const (
	maxAnswers = 1 << 20  // bytes; one answer may be longer
	maxBatches = 16 << 20 // bytes
	quota      = 64 << 10 // bytes that a stream of grpc keeps beside a message
)

// connKey is the key of the conn in the context of a call.
type connKey struct{}

func connOf(ctx context.Context) *conn {
	c, _ := ctx.Value(connKey{}).(*conn)
	return c
}

// answer waits until the connection may have another answer of a length, and returns a buffer for the answer. The
// buffer comes back to the connection when the answer is written.
func (c *conn) answer(ctx context.Context, length int) (*[]byte, mem.BufferPool, error) {
	if c == nil || mem.IsBelowBufferPoolingThreshold(length) { // maxStreams bounds short answers
		return pool.Get(length), &pool, nil
	}
	weight := min(int64(length), maxAnswers)
	if err := c.answers.Acquire(ctx, weight); err != nil {
		return nil, nil, err
	}
	h := &held{debt: &debt{of: c.answers, weight: weight}}
	// grpc drops the buffer of a call that was cancelled in the moment of the answer.
	h.dropped = runtime.AddCleanup(h, (*debt).pay, h.debt)
	return pool.Get(length), h, nil
}

// A held is the pool for one buffer of a connection.
type held struct {
	debt    *debt
	dropped runtime.Cleanup
}

// Get implements mem.BufferPool.
func (h *held) Get(length int) *[]byte { return pool.Get(length) }

// Put implements mem.BufferPool.
func (h *held) Put(p *[]byte) {
	h.dropped.Stop()
	h.debt.pay()
	pool.Put(p)
}

// A debt is the bytes of a buffer.
type debt struct {
	of     *semaphore.Weighted
	weight int64
	paid   atomic.Bool
}

func (d *debt) pay() {
	if !d.paid.Swap(true) {
		d.of.Release(d.weight)
	}
}

// stream reserves memory for a stream with batches of a length, and returns a function that ends the reservation.
func (c *conn) stream(length int) (end func(), err error) {
	if c == nil {
		return func() {}, nil
	}
	weight := int64(2*length + quota) // a batch waits for its turn while another is written
	if !c.batches.TryAcquire(min(weight, maxBatches)) {
		return nil, reason.Connections.New("the streams of this connection have the %d MiB that a connection may have: "+
			"ask for smaller batches, or use another connection", maxBatches>>20)
	}
	return func() { c.batches.Release(min(weight, maxBatches)) }, nil
}

// conns sees connections begin and end.
type conns struct{ calls *metrics.Calls }

func (conns) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return context.WithValue(ctx, connKey{}, &conn{semaphore.NewWeighted(maxAnswers), semaphore.NewWeighted(maxBatches)})
}

func (c conns) HandleConn(_ context.Context, s stats.ConnStats) {
	switch s.(type) {
	case *stats.ConnBegin:
		c.calls.Opened()
	case *stats.ConnEnd:
		c.calls.Closed()
	}
}

func (conns) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }
func (conns) HandleRPC(context.Context, stats.RPCStats)                       {}

// timerKey is the key of the timer in the context of a call.
type timerKey struct{}

// impatient is the tap of a server: impatient cancels a call whose message does not come in time. The timer ends with the
// call: grpc ends many calls without asking for their message, and a timer that goes on would keep such a call in memory.
func impatient(wait time.Duration) tap.ServerInHandle {
	return func(ctx context.Context, _ *tap.Info) (context.Context, error) {
		ctx, cancel := context.WithCancel(ctx)
		timer := time.AfterFunc(wait, cancel)
		context.AfterFunc(ctx, func() { timer.Stop() })
		return context.WithValue(ctx, timerKey{}, timer), nil
	}
}

// arrived ends the time for the message of a call.
func arrived(ctx context.Context) {
	if t, ok := ctx.Value(timerKey{}).(*time.Timer); ok {
		t.Stop()
	}
}

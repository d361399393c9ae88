package rpc

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/tap"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/reason"
)

// A conn bounds the memory of one connection, whose client may never read. grpc has no option for that: it takes a message
// of any length from a handler, and keeps it until the client reads.
type conn struct {
	answers *semaphore.Weighted // bytes of answers of Take between the making and the writing
	batches *semaphore.Weighted // bytes that streams may come to have
}

const (
	maxAnswers = 1 << 20  // bytes; one answer may be longer
	maxBatches = 16 << 20 // bytes
	quota      = 64 << 10 // bytes that a stream of grpc keeps beside a message
	fewIDs     = 128      // answers of so few do not wait: maxStreams bounds them
	widest     = 34       // bytes of an ID in a message
)

// connKey is the key of the conn in the context of a call.
type connKey struct{}

// queue is an interceptor: a long answer to Take waits until the connection has room for it.
func queue(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	r, ok := request.(*firnv1.TakeRequest)
	if !ok || r.GetCount() <= fewIDs {
		return handler(ctx, request)
	}
	answers := ctx.Value(connKey{}).(*conn).answers
	weight := min(int64(r.GetCount())*widest, maxAnswers)
	if err := answers.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	h := &held{sync.OnceFunc(func() { answers.Release(weight) })}
	// grpc drops the buffer of a call that was just cancelled.
	runtime.AddCleanup(h, func(release func()) { release() }, h.release)
	answer, err := handler(ctx, request)
	if err != nil {
		h.release()
		return nil, err
	}
	return message{answer.(*firnv1.Batch), h}, nil
}

// A held is the pool for the buffer of an answer. grpc gives the buffer back when the answer is written.
type held struct{ release func() }

// Get implements mem.BufferPool.
func (h *held) Get(length int) *[]byte { return buffers.Get(length) }

// Put implements mem.BufferPool.
func (h *held) Put(b *[]byte) {
	buffers.Put(b)
	h.release()
}

// reserve reserves memory for a stream with batches of a length, and returns a function that ends the reservation.
func (c *conn) reserve(length int) (end func(), err error) {
	weight := min(int64(3*length+quota), maxBatches) // one batch as made, the same encoded, and the one before under way
	if !c.batches.TryAcquire(weight) {
		return nil, reason.Connections.New("the streams of this connection have the %d MiB that a connection may have: "+
			"ask for smaller batches, or use another connection", maxBatches>>20)
	}
	return func() { c.batches.Release(weight) }, nil
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

// impatient is the tap of a server. It cancels a call whose message does not arrive in time: an interceptor is too late for
// that, and a keepalive only notices a dead connection. The timer ends with the call, because grpc ends many calls without
// asking for their message, and a timer that goes on would keep such a call in memory.
func impatient(ctx context.Context, _ *tap.Info) (context.Context, error) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(patience, cancel)
	context.AfterFunc(ctx, func() { timer.Stop() })
	return context.WithValue(ctx, timerKey{}, timer), nil
}

// arrived ends the time for the message of a call.
func arrived(ctx context.Context) { ctx.Value(timerKey{}).(*time.Timer).Stop() }

package soak

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
)

// twoAtomics makes Nanoflakes in an obvious but wrong way: with time and sequence in two atomics.
type twoAtomics struct {
	clock func() time.Time
	time  atomic.Int64
	seq   atomic.Int64
}

func (g *twoAtomics) TryNext() (nanoflake.ID, error) {
	now := g.clock().UnixMilli() - nanoflake.DefaultEpochMilli
	last := g.time.Load()
	if now > last {
		g.time.Store(now)
		runtime.Gosched() // so that the test need not wait for the scheduler to do the same
		g.seq.Store(0)
		return nanoflake.ID(now << 22), nil
	}
	seq := g.seq.Add(1)
	if seq > nanoflake.MaxSequence {
		return 0, iderr.ErrExhausted
	}
	return nanoflake.ID(last<<22 | seq), nil
}

func (g *twoAtomics) Next(context.Context) (nanoflake.ID, error) {
	for {
		if id, err := g.TryNext(); err == nil {
			return id, nil
		}
		runtime.Gosched()
	}
}

func (g *twoAtomics) Fill(ctx context.Context, dst []nanoflake.ID) (n int, err error) {
	for i := range dst {
		dst[i], _ = g.Next(ctx)
	}
	return len(dst), nil
}

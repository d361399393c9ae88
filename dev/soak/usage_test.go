package soak

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
	"github.com/firn-id/firn/usage"
)

// A counted is a generator that counts its IDs.
type counted interface {
	ForLease() grant.Grantee
	Usage() usage.Usage
}

// calls are the calls of a generator that make IDs. Each returns how many IDs it made.
type calls struct {
	counted
	next, tryNext func() int
	fill, seq     func(n int) int
}

// callsOf returns the calls of a generator.
func callsOf[T any](t *testing.T, g interface {
	counted
	generator[T]
	Seq(context.Context, int) iter.Seq2[T, error]
}) calls {
	ctx := t.Context()
	one := func(_ T, err error) int {
		if err != nil {
			return 0
		}
		return 1
	}
	return calls{g,
		func() int { return one(g.Next(ctx)) },
		func() int { return one(g.TryNext()) },
		func(n int) int { made, _ := g.Fill(ctx, make([]T, n)); return made },
		func(n int) int { return count(g.Seq(ctx, 2*n), n) },
	}
}

// count takes up to n IDs of a sequence.
func count[T any](seq iter.Seq2[T, error], n int) (taken int) {
	for _, err := range seq {
		if err != nil {
			return taken
		}
		if taken++; taken == n {
			return taken
		}
	}
	return taken
}

// meta is a sno generator with the calls of the others.
type meta struct{ *sno.Generator }

func (m meta) Next(ctx context.Context) (sno.ID, error) { return m.Generator.Next(ctx, 1) }
func (m meta) TryNext() (sno.ID, error)                 { return m.Generator.TryNext(2) }
func (m meta) Fill(ctx context.Context, dst []sno.ID) (int, error) {
	return m.Generator.Fill(ctx, 3, dst)
}
func (m meta) Seq(ctx context.Context, n int) iter.Seq2[sno.ID, error] {
	return m.Generator.Seq(ctx, 4, n)
}

// TestUsage checks that Usage counts the IDs of callers, no more and no less. Meanwhile the clock is very
// bad, and a lease grants intervals, loses workers, leaves gaps and withdraws. The generators of sno
// also go back with the clock, and those of SCRU160 start afresh.
func TestUsage(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (calls, error){
		"nanoflake": func(t *testing.T) (calls, error) {
			g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
			return callsOf(t, g), err
		},
		"ulidflake": func(t *testing.T) (calls, error) {
			g, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Leased: true, IncrementBits: 1})
			return callsOf(t, g), err
		},
		"snowflakesi": func(t *testing.T) (calls, error) {
			g, err := snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{MachineBits: 2}})
			return callsOf(t, g), err
		},
		"scru160": func(t *testing.T) (calls, error) {
			g, err := scru160.NewGenerator(scru160.Config{Leased: true, NodeBits: 8})
			return callsOf(t, g), err
		},
		"scru160, starting afresh": func(t *testing.T) (calls, error) {
			g, err := scru160.NewGenerator(scru160.Config{Restart: true, MaxBackward: time.Millisecond})
			return callsOf(t, g), err
		},
		"scru160 of microseconds": func(t *testing.T) (calls, error) {
			g, err := scru160.NewGenerator(scru160.Config{Leased: true, NodeBits: 8, Counter: scru160.CounterMicroseconds})
			return callsOf(t, g), err
		},
		"sno": func(t *testing.T) (calls, error) {
			g, err := sno.NewGeneratorWith(sno.Config{Leased: true})
			return callsOf(t, meta{g}), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock, _ := newClock(t, true)
			clock.Twice = true
			g, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer clock.start()()
			l := &lessor{grantee: g.ForLease(), now: clock.Now, random: rand.New(rand.NewPCG(1, 2))}
			spec, err := l.grantee.Pool()
			l.workers = max(spec.Layout.Workers, 1) // 1 for a generator without a lease, which ignores grants
			if leased := name != "scru160, starting afresh"; (err == nil) != leased {
				t.Fatal(err)
			}
			c := &counting{calls: g}
			for c.got.Load() < *draw && !t.Failed() {
				c.round(t, l, max(*draw/20, 1000))
				if u := g.Usage(); u.IDs != uint64(c.got.Load()) {
					t.Fatalf("Usage has %d IDs, callers have %d", u.IDs, c.got.Load())
				}
			}
			c.sealed(t, l)
			t.Logf("%+v of %d IDs", g.Usage(), c.got.Load())
		})
	}
}

// counting counts the IDs of callers.
type counting struct {
	calls
	got, asked atomic.Int64 // asked is the most that the calls under way can make
	last       usage.Usage  // the last reading
}

// slack is the length of the longest run of Seq, some of which Seq drops.
const slack = 256

// round lets the callers make so many IDs while a lease works, and reads Usage meanwhile.
func (c *counting) round(t *testing.T, l *lessor, ids int64) {
	to := c.got.Load() + ids
	var callers, others sync.WaitGroup
	for i := range goroutines {
		callers.Go(func() { c.call(rand.New(rand.NewPCG(uint64(i), uint64(to))), to) })
	}
	var stop atomic.Bool
	for _, f := range []func(){l.step, func() { c.read(t) }} {
		others.Go(func() {
			for !stop.Load() {
				f()
			}
		})
	}
	callers.Wait()
	stop.Store(true)
	others.Wait()
}

// call makes IDs in all ways until callers have so many.
func (c *counting) call(r *rand.Rand, to int64) {
	for c.got.Load() < to {
		n := 1 + r.IntN(300)
		asked := int64(n + slack)
		c.asked.Add(asked)
		made := 0
		switch r.IntN(4) {
		case 0:
			made = c.fill(n)
		case 1:
			made = c.seq(n)
		case 2:
			for range n {
				made += c.tryNext()
			}
		default:
			made = c.next()
		}
		c.got.Add(int64(made))
		c.asked.Add(-asked)
		if made == 0 {
			runtime.Gosched()
		}
	}
}

// read checks that a reading does not go back, and is not above what callers have or may just get.
func (c *counting) read(t *testing.T) {
	u := c.Usage()
	asked := c.asked.Load()
	if most := c.got.Load() + asked; u.IDs > uint64(most) {
		t.Errorf("Usage has %d IDs, callers have at most %d", u.IDs, most)
	}
	if l := c.last; u.IDs < l.IDs || u.Worst < l.Worst || u.Waits < l.Waits || u.Exhausted < l.Exhausted || u.ClockSteps < l.ClockSteps {
		t.Errorf("from %+v to %+v", l, u)
	}
	if u.Second < 0 || u.Second > u.Worst || u.Worst > 1 {
		t.Errorf("%+v", u)
	}
	c.last = u
	runtime.Gosched()
}

// sealed seals the generator while callers are at work, some of which then drop a word.
func (c *counting) sealed(t *testing.T, l *lessor) {
	var ended atomic.Bool
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for !ended.Load() {
				c.got.Add(int64(c.tryNext()))
			}
		})
	}
	began := c.got.Load()
	for c.got.Load() < began+100 {
		l.step()
	}
	l.grantee.Seal(errors.New("the end"))
	ended.Store(true)
	all.Wait()
	if u := c.Usage(); u.IDs != uint64(c.got.Load()) {
		t.Errorf("sealed: Usage has %d IDs, callers have %d", u.IDs, c.got.Load())
	}
}

// A lessor grants intervals as a lease does whose store and clock are bad.
type lessor struct {
	grantee grant.Grantee
	now     func() time.Time
	random  *rand.Rand
	workers int
	worker  int
}

var errLost = errors.New("the worker was lost")

// step does one of the things that a lease does.
func (l *lessor) step() {
	now := l.now()
	window := time.Duration(1+l.random.IntN(100)) * time.Millisecond
	switch l.random.IntN(8) {
	case 0:
		l.grantee.Refuse(errLost)
		l.worker = l.random.IntN(l.workers)
	case 1:
		l.grantee.Withdraw()
	case 2:
		l.worker = l.random.IntN(l.workers)
		now = now.Add(window) // a gap
	}
	l.grantee.Grant(l.worker, now, now.Add(window))
	time.Sleep(time.Duration(l.random.IntN(int(2 * time.Millisecond))))
}

package sno_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// After another caller has an ID of a later unit or of the other time line, Seq yields no earlier ID.
func TestSeqBesideNext(t *testing.T) {
	h := newHands(100_000)
	g := h.generator(t, sno.GeneratorSnapshot{})
	n, tickTock := 0, 0
	for id, err := range g.Seq(t.Context(), 0, 1000) {
		if err != nil || unit(id) != h.unit() || id.TickTock() != tickTock {
			t.Fatalf("ID %d is of unit %d, tick-tock %d at unit %d, %d; %v", n, unit(id), id.TickTock(), h.unit(), tickTock, err)
		}
		switch n++; {
		case n == 500:
			h.set(h.unit() - 10)
			tickTock = mustTry(t, g).TickTock()
		case n%7 == 0:
			h.set(h.unit() + 1)
			mustTry(t, g)
		}
	}
	if n != 1000 || tickTock != 1 {
		t.Errorf("%d IDs, tick-tock %d", n, tickTock)
	}
}

// ofMeta makes IDs of one metabyte, with the methods of the other formats.
type ofMeta struct{ *sno.Generator }

const meta = 0xa7

func (g ofMeta) Next(ctx context.Context) (sno.ID, error) { return g.Generator.Next(ctx, meta) }
func (g ofMeta) TryNext() (sno.ID, error)                 { return g.Generator.TryNext(meta) }
func (g ofMeta) TryFill(dst []sno.ID) (int, error)        { return g.Generator.TryFill(meta, dst) }
func (g ofMeta) Fill(ctx context.Context, dst []sno.ID) (int, error) {
	return g.Generator.Fill(ctx, meta, dst)
}
func (g ofMeta) Seq(ctx context.Context, n int) iter.Seq2[sno.ID, error] {
	return g.Generator.Seq(ctx, meta, n)
}

// The checks of all generators, but for those of a clock that goes back: see TestTickTock.
func TestGenerator(t *testing.T) {
	var all []testkit.Generation[sno.ID]
	for name, bounds := range map[string][2]uint16{"whole": {0, 65535}, "shard": {100, 163}} {
		size := int(bounds[1]-bounds[0]) + 1
		all = append(all, testkit.Generation[sno.ID]{
			Name: name, Format: "sno", Unit: sno.TimeUnit, Time: sno.ID.Time, Least: size, Most: size, Lines: true,
			First: at(1), Last: at(sno.MaxTimestamp), Zero: func() testkit.Generator[sno.ID] { return ofMeta{new(sno.Generator)} },
			New: func(s testkit.Setup) (testkit.Generator[sno.ID], error) {
				c := sno.Config{Clock: s.Clock, MaxBackward: s.MaxBackward, Leased: s.Leased}
				if !s.Leased {
					c.Snapshot = &sno.GeneratorSnapshot{SequenceMin: bounds[0], SequenceMax: bounds[1]}
				}
				g, err := sno.NewGeneratorWith(c)
				return ofMeta{g}, err
			},
		})
	}
	testkit.Run(t, all)
	ids := make([]sno.ID, 3)
	g := newGenerator(t, sno.Config{})
	testkit.Call(g.TryFill(1, ids[:2])).Gives(t, 2)
	testkit.Call(g.Fill(t.Context(), 2, ids[2:])).Gives(t, 1)
	if ids[0].Meta() != 1 || ids[1].Meta() != 1 || ids[2].Meta() != 2 {
		t.Errorf("the IDs are %v", ids)
	}
}

func TestSnapshotOutOfRange(t *testing.T) {
	for s, field := range map[sno.GeneratorSnapshot]string{
		{WallHi: -1}: "WallHi", {WallHi: sno.MaxTimestamp + 1}: "WallHi", {WallSafe: -1}: "WallSafe", {WallSafe: sno.MaxTimestamp + 1}: "WallSafe",
	} {
		_, err := sno.NewGenerator(&s, nil)
		testkit.IsConfigError(t, err, "sno", field, "is not in 0 to 2^39-1")
	}
}

// At the epoch NewWithTime leaves out the sequence that would make the zero ID, in each round.
func TestNewWithTimeZero(t *testing.T) {
	g := newHands(1000).generator(t, sno.GeneratorSnapshot{SequenceMax: 3})
	for i := range 9 {
		testkit.Same(t, g.NewWithTime(0, epoch), pack(0, 0, 0, 0, uint16(i%3+1)))
	}
	testkit.Same(t, g.NewWithTime(1, epoch), pack(0, 0, 1, 0, 0))
}

// NewWithTime uses each number of its sequence equally often, with any number of goroutines.
func TestNewWithTimeConcurrent(t *testing.T) {
	g := newHands(1000).generator(t, sno.GeneratorSnapshot{SequenceMin: 100, SequenceMax: 355})
	const goroutines, each = 8, 256 * 20
	var counts [65536]atomic.Int32
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				counts[g.NewWithTime(0, at(5)).Sequence()].Add(1)
			}
		})
	}
	all.Wait()
	for seq := range counts {
		n, wanted := int(counts[seq].Load()), 0
		if 100 <= seq && seq <= 355 {
			wanted = goroutines * each / 256
		}
		if n != wanted {
			t.Errorf("sequence %d was given %d times, want %d", seq, n, wanted)
		}
	}
}

func wantState(t *testing.T, g *sno.Generator, length int, sequence uint32) {
	t.Helper()
	if g.Len() != length || g.Sequence() != sequence {
		t.Fatalf("Len %d, Sequence %d; want %d, %d", g.Len(), g.Sequence(), length, sequence)
	}
}

// Sequence and the snapshot count waiting calls above SequenceMax.
func TestStateOverflowing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMin: 20, SequenceMax: 23}})
		for range 9 {
			go g.New(0)
		}
		synctest.Wait()
		wantState(t, g, 4, 23+5)
		s := g.Snapshot()
		if s.Sequence != 28 || s.WallHi != 1000 {
			t.Errorf("snapshot %+v", s)
		}
		if _, err := sno.NewGenerator(&s, nil); err != nil {
			t.Error(err)
		}
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		wantState(t, g, 4, 23+1)
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		wantState(t, g, 1, 20)
		time.Sleep(sno.TimeUnit)
		wantState(t, g, 0, 20)
	})
}

// Under load, the state that a goroutine reads is never behind its last ID.
func TestStateUnderLoad(t *testing.T) {
	g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMin: 1000, SequenceMax: 9000}})
	const goroutines, each = 8, 20_000
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			var before sno.GeneratorSnapshot
			for i := range each {
				id, err := g.Next(context.Background(), 0)
				if err != nil {
					t.Error(err)
					return
				}
				if i%8 > 0 {
					continue
				}
				s := g.Snapshot()
				if n, c := g.Len(), g.Cap(); n < 0 || n > c || c != 8001 {
					t.Errorf("Len %d of Cap %d", n, c)
				}
				if seq := g.Sequence(); seq < 1000 || seq > 9000+goroutines {
					t.Errorf("Sequence %d", seq)
				}
				if s.Sequence < 1000 || s.Sequence > 9000+goroutines || s.WallHi > s.Now && s.Drifts == 0 {
					t.Errorf("snapshot %+v", s)
				}
				behind := s.WallHi < unit(id) || s.WallHi == unit(id) && s.Sequence < uint32(id.Sequence())
				fellBack := s.WallHi < before.WallHi
				if s.Drifts == 0 && (behind || fellBack) {
					t.Errorf("snapshot %+v is behind %v of unit %d, sequence %d, or behind %+v", s, id, unit(id), id.Sequence(), before)
					return
				}
				before = s
			}
		})
	}
	all.Wait()
}

// A bubble begins before the epoch, so constructors return an error until the test has slept.
func TestNewGeneratorInBubble(t *testing.T) {
	outside := newGenerator(t, sno.Config{})
	synctest.Test(t, func(t *testing.T) {
		g, err := sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMax: 32767}, nil)
		var out *sno.TimeError
		if !errors.As(err, &out) || g != nil || !out.Time.Equal(time.Now()) {
			t.Errorf("%v, %v", g, err)
		}
		time.Sleep(time.Until(time.Unix(sno.Epoch+1, 0)))
		g, err = sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMax: 32767}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, g.New(0), 250, 0, 0)
		want(t, outside.New(0), 250, 0, 0)
	})
}

// New has no error to return, so it waits for the epoch.
func TestNewWaitsForEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch) - 3*time.Second)
		var c offsetClock
		c.offset.Store(int64(10 * time.Second))
		g := newGenerator(t, sno.Config{Clock: c.now})
		c.offset.Store(0)
		want(t, g.New(0), 1, 0, 0)
		if late := time.Since(at(1)); late < 0 || late > 10*time.Millisecond {
			t.Errorf("%v after the first unit", late)
		}
	})
}

// In a bubble New sleeps until the epoch in one sleep: ten years of sleeps of a few milliseconds would take
// too long.
func TestNewWaitsForEpochInBubble(t *testing.T) {
	outside := newGenerator(t, sno.Config{})
	synctest.Test(t, func(t *testing.T) {
		want(t, outside.New(0), 1, 0, 0)
		if now := time.Now(); !now.Equal(at(1)) {
			t.Errorf("it is %v", now)
		}
	})
}

// panicOf returns the ID of a call, or the error with which the call panics.
func panicOf(call func() sno.ID) (id sno.ID, err error) {
	defer func() { err, _ = recover().(error) }()
	return call(), nil
}

func TestZeroGenerator(t *testing.T) {
	var g sno.Generator
	for name, call := range map[string]func() sno.ID{
		"New": func() sno.ID { return g.New(0) }, "NewWithTime": func() sno.ID { return g.NewWithTime(0, at(1)) },
	} {
		if id, err := panicOf(call); !errors.Is(err, iderr.ErrNotReady) {
			t.Errorf("%s = %v, %v", name, id, err)
		}
	}
	if g.Cap() != 0 || g.Len() != 0 || g.Sequence() != 0 || g.SequenceMin() != 0 || g.SequenceMax() != 0 || g.Partition() != (sno.Partition{}) {
		t.Error("the zero generator has state")
	}
	if s := g.Snapshot(); s.WallHi != 0 || s.Drifts != 0 || s.Sequence != 0 {
		t.Errorf("snapshot %+v", s)
	}
}

func TestContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}})
		ended, stop := context.WithCancel(t.Context())
		stop()
		var none context.Context
		for _, ctx := range []context.Context{ended, none, t.Context(), ended} { // Next does not look at the context
			if _, err := g.Next(ctx, 0); err != nil {
				t.Fatal(err)
			}
		}
		for name, err := range map[string]error{
			"Next": second(g.Next(ended, 0)), "Fill": second(g.Fill(ended, 0, make([]sno.ID, 1))),
		} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}
		start := time.Now()
		if id, err := g.Next(none, 0); err != nil || unit(id) != 1001 || time.Since(start) != sno.TimeUnit {
			t.Errorf("nil context: %v, %v after %v", id, err, time.Since(start))
		}
		for range 3 {
			g.New(0)
		}

		// Of three waiting calls, the second ends with its context.
		short, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		errs := make([]error, 3)
		for i, ctx := range []context.Context{t.Context(), short, t.Context()} {
			go func() { _, errs[i] = g.Next(ctx, 0) }()
			synctest.Wait()
		}
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		if errs[0] != nil || !errors.Is(errs[1], context.DeadlineExceeded) || errs[2] != nil {
			t.Errorf("errors are %v", errs)
		}
		wantState(t, g, 2, 1)
	})
}

// Waiting calls are served in turn, and before new calls.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}})
		const callers = 11
		ids := make([]sno.ID, callers)
		for range 4 {
			g.New(0)
		}
		for i := range callers {
			go func() { ids[i] = g.New(byte(i)) }()
			synctest.Wait()
			testkit.Call(g.TryNext(0)).Fails(t, sno.ErrExhausted)
		}
		time.Sleep(3 * sno.TimeUnit)
		synctest.Wait()
		for i, id := range ids {
			want(t, id, 1001+int64(i/4), 0, uint16(i%4))
		}
	})
}

// With many callers and few IDs, each caller gets its share.
func TestShares(t *testing.T) {
	g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}})
	const callers, fair = 64, 30
	var left atomic.Int64
	left.Store(callers * fair)
	share := make([]int, callers)
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				g.New(0)
				share[i]++
			}
		})
	}
	all.Wait()
	for i, n := range share {
		if n < fair/3 || n > fair*3 {
			t.Errorf("caller %d got %d IDs, a fair share is %d", i, n, fair)
		}
	}
}

// TryNext returns the error of the clock also while other callers wait.
func TestTryNextBesideThoseWhoWaitForTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		var c offsetClock
		g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: c.now})
		g.New(0)
		c.offset.Store(-int64(time.Second))
		g.New(0)
		c.offset.Add(-int64(100 * time.Millisecond)) // into times that both lines have used
		go g.Next(t.Context(), 0)
		synctest.Wait()
		_, err := g.TryNext(0)
		wantBackwards(t, err, 100*time.Millisecond)
		time.Sleep(time.Second)
	})
}

// TryNext returns the error of the fence also while other callers wait for a grant, or for an interval to
// begin.
func TestTryNextBesideThoseWhoWaitAtTheFence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g := newGenerator(t, sno.Config{Leased: true})
		if err := g.ForLease().Grant(1, at(1000), at(1001)); err != nil {
			t.Fatal(err)
		}
		mustTry(t, g)
		time.Sleep(sno.TimeUnit)
		got := make(chan sno.ID)
		go func() {
			id, err := g.Next(t.Context(), 0)
			if err != nil {
				t.Error(err)
			}
			got <- id
		}()
		synctest.Wait()
		wantFenced := func() {
			t.Helper()
			_, err := g.TryNext(0)
			if !errors.Is(err, sno.ErrFenced) || errors.Is(err, sno.ErrExhausted) || errors.Is(err, sno.ErrClockBackwards) {
				t.Error(err)
			}
		}
		wantFenced()
		if err := g.ForLease().Grant(1, at(1250), at(1300)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		wantFenced()
		want(t, <-got, 1250, 0, 0)
		mustTry(t, g)
	})
}

// Next waits for an interval that begins within MaxBackward, and returns an error before a later interval.
func TestNextBeforeAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g := newGenerator(t, sno.Config{Leased: true, MaxBackward: time.Second})
		if err := g.ForLease().Grant(1, at(2000), at(2001)); err != nil {
			t.Fatal(err)
		}
		_, err := g.Next(t.Context(), 0)
		if !errors.Is(err, sno.ErrFenced) || !strings.Contains(err.Error(), "4s ahead of the clock") {
			t.Errorf("4 s before: %v", err)
		}
		time.Sleep(3 * time.Second)
		id := testkit.Must(g.Next(t.Context(), 0))
		want(t, id, 2000, 0, 0)
	})
}

// Callers of New and Next wait for the first grant, whatever MaxBackward is. TryNext returns why there is
// no grant, and so does Next when its context ends.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g, why := newGenerator(t, sno.Config{Leased: true, MaxBackward: -1}), errors.New("why")
		g.ForLease().Delay(why)
		var all sync.WaitGroup
		all.Go(func() { g.New(1) })
		all.Go(func() { testkit.Must(g.Next(t.Context(), 2)) })
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := g.Next(ctx, 3); !errors.Is(err, why) || !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		time.Sleep(time.Hour)
		testkit.Is(t, testkit.Err(g.TryNext(4)), why, "TryNext")
		now := time.Now()
		testkit.OK(t, g.ForLease().Grant(5, now, now.Add(time.Second)))
		all.Wait()
	})
}

// New waits while a grant may come, whatever the lease says meanwhile. After the seal New panics with the
// error of the lease, also in a call that waits already, and never returns the zero ID.
func TestNewWithLease(t *testing.T) {
	lost, closed := errors.New("lost"), errors.New("closed")
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g := newGenerator(t, sno.Config{Leased: true})
		type result struct {
			id  sno.ID
			err error
		}
		got := make(chan result, 1)
		start := func() {
			go func() {
				id, err := panicOf(func() sno.ID { return g.New(9) })
				got <- result{id, err}
			}()
			time.Sleep(time.Minute)
			if len(got) > 0 {
				t.Fatalf("New does not wait: %v", <-got)
			}
		}
		start() // before the first grant
		g.ForLease().Refuse(lost)
		time.Sleep(time.Hour)
		now := time.Now()
		if err := g.ForLease().Grant(5, now, now.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.err != nil || r.id.Partition() != (sno.Partition{0, 5}) || r.id.Time().Sub(now).Abs() > time.Second {
			t.Errorf("after the grant at %v: %v, %v", now, r.id, r.err)
		}

		time.Sleep(time.Minute)
		start() // after the grant
		g.ForLease().Seal(closed)
		if r := <-got; !errors.Is(r.err, closed) {
			t.Errorf("a call that waited: %v, %v", r.id, r.err)
		}
		testkit.Call(panicOf(func() sno.ID { return g.New(0) })).Fails(t, closed)
	})
}

// The last word of all makes an ID as other words do, after any number of regressions.
func TestLastWord(t *testing.T) {
	for drifts := range uint32(300) {
		s := sno.GeneratorSnapshot{WallHi: sno.MaxTimestamp, Sequence: sno.MaxSequence - 1, Drifts: drifts}
		h := newHands(sno.MaxTimestamp)
		g := h.generator(t, s)
		want(t, mustTry(t, g), sno.MaxTimestamp, int(drifts&1), sno.MaxSequence)
		testkit.Call(g.TryNext(0)).Fails(t, sno.ErrExhausted)
		restored := h.generator(t, g.Snapshot())
		testkit.Call(restored.TryNext(0)).Fails(t, sno.ErrExhausted)
	}
	if got := newHands(1).generator(t, sno.GeneratorSnapshot{}).ExpiresAt(); !got.Equal(at(sno.MaxTimestamp + 1)) {
		t.Errorf("expires at %v", got)
	}
}

// Time stands in a bubble while a goroutine runs. An exhausted unit stays exhausted for more calls than the
// field of the sequence has numbers. The tick-tock bit does not change, and a generator restored from a
// snapshot repeats no ID.
func TestStandingTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		g := newGenerator(t, sno.Config{Snapshot: new(sno.GeneratorSnapshot)})
		first := mustTry(t, g)
		made := 1
		for range 1<<23 + 1<<16 {
			id, err := g.TryNext(0)
			if errors.Is(err, sno.ErrExhausted) {
				continue
			}
			if want(t, id, unit(first), 0, uint16(made)); err != nil {
				t.Fatal(err)
			}
			made++
		}
		if made != 1<<16 || g.Len() != made {
			t.Fatalf("%d IDs, and Len is %d", made, g.Len())
		}
		if s := g.Snapshot(); s.Drifts != 0 || s.WallSafe != 0 || s.WallHi != unit(first) || s.Sequence != sno.MaxSequence {
			t.Errorf("%+v", s)
		}
		testkit.Call(restart(t, g, nil).TryNext(0)).Fails(t, sno.ErrExhausted)
		time.Sleep(sno.TimeUnit)
		want(t, mustTry(t, g), unit(first)+1, 0, 0)
	})
}

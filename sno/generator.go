package sno

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/batch"
	"github.com/firn-id/firn/internal/clock"
	"github.com/firn-id/firn/internal/fence"
	"github.com/firn-id/firn/internal/line"
	"github.com/firn-id/firn/internal/tick"
)

// defaultMaxBackward is how long Next waits for a clock that is in an unsafe time.
const defaultMaxBackward = 5 * time.Second

// A word is a bit that stays 0, so that no word is at the open fence, 39 bits of time, which
// a fence bounds whatever is below them, the tick-tock bit, and 23 of sequence: 16, and room
// for words to be added.
//
// The words of one setting of the bit only increase, so none comes twice: see goBack. Only
// sequences beyond the end of a unit do; see tick.Word.Trim.
const (
	unitShift = 24
	tickTock  = 1 << 23
	sequence  = 1<<23 - 1

	sealMark = 1 << 63
)

// unitIn returns the time unit of a word.
func unitIn(word uint64) uint64 { return word >> unitShift & MaxTimestamp }

// Generator is responsible for generating new IDs scoped to a given fixed Partition and
// managing their sequence. It is safe for concurrent use, holds no lock while it waits,
// and starts no goroutine.
//
// A Generator must be constructed using NewGenerator: the zero value makes the zero ID. A
// Generator must not be copied.
type Generator struct {
	word tick.Word // the last ID's time, tick-tock bit and sequence

	// lasts is a moment up to which the unit of the last word surely goes on.
	//
	//	writer whoever has issued a word of the unit of an exact reading of the clock, after
	//	       that, and goBack
	//	holds  nothing that uniqueness rests on
	lasts atomic.Uint64

	// turns grows before each change of the tick-tock bit, so that a reading of the clock from
	// before is known for one.
	turns atomic.Uint32

	line line.Line

	// Everything below is written once, by the constructor, but for what mu and atomics
	// guard.

	clock       clock.Clock
	min, max    uint64
	maxBackward time.Duration
	overflow    overflow // used by the leader of the line alone
	fence       fence.Fence
	leased      bool

	separate atomic.Uint32 // the sequence of NewWithTime: the number of the next ID

	taking atomic.Bool // a Snapshot reads the clock

	// mu guards the changes of the tick-tock bit, and what must agree with it. The clock is
	// not read while it is held.
	mu     sync.Mutex
	safe   uint64 // the last unit that the other setting of the bit has used
	drifts uint32 // how often the bit was changed
}

// Config says how a [Generator] makes its IDs, in full.
type Config struct {
	// Snapshot is as in NewGenerator; nil means a partition of its own.
	Snapshot *GeneratorSnapshot

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a partition and intervals. Leave Snapshot nil: the lease takes its place.
	Leased bool

	// Overflow receives notifications; see SequenceOverflowNotification. It may be nil. A
	// channel that is closed receives no more.
	Overflow chan<- *SequenceOverflowNotification

	// MaxBackward is how long Next waits for a clock in a time that both settings of the
	// tick-tock bit have used, or before an interval that was allotted, rather than return
	// an error. 0 means 5 s; negative, never wait. New waits as long as it takes.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests. It may take a Snapshot
	// of the generator.
	Clock func() time.Time
}

// NewGenerator returns a new generator based on the optional snapshot, which notifies the
// optional channel of overflows. Without a snapshot it gets a partition that no other
// generator of the process has, or a *[PartitionPoolExhaustedError]. A snapshot with a
// sequence that is out of bounds is an *[InvalidSequenceBoundsError], one with a time that
// is none of the timestamps' a *[ConfigError]. A clock that is not after the epoch or past
// the last timestamp is a *[TimeError]. A generator that is refused takes no partition.
func NewGenerator(snapshot *GeneratorSnapshot, c chan<- *SequenceOverflowNotification) (*Generator, error) {
	return NewGeneratorWith(Config{Snapshot: snapshot, Overflow: c})
}

// NewGeneratorWith is [NewGenerator] with all settings.
func NewGeneratorWith(c Config) (*Generator, error) {
	g, err := newGenerator(c)
	if err != nil {
		return nil, err
	}
	var r refusal
	if !g.read(&r) {
		return nil, g.err(r)
	}
	if c.Snapshot == nil && !c.Leased {
		// Last, so that no partition is used up by a generator that is refused.
		partition, err := partitions.take()
		if err != nil {
			return nil, err
		}
		g.fence.Fix(uint64(partition.AsUint16()))
	}
	return g, nil
}

// newGenerator makes a generator of the snapshot's partition, whatever the clock's time.
func newGenerator(c Config) (*Generator, error) {
	var s GeneratorSnapshot
	if c.Snapshot != nil {
		s = *c.Snapshot
	}
	if err := s.sanitize(); err != nil {
		return nil, err
	}
	if c.Leased && c.Snapshot != nil {
		return nil, iderr.BadConfig(format, "Snapshot", "given", "nil beside Leased: a lease takes its place, so leave out one of the two")
	}
	g := &Generator{
		clock: clock.New(c.Clock), maxBackward: c.MaxBackward,
		min: uint64(s.SequenceMin), max: uint64(s.SequenceMax),
		overflow: overflow{notify: c.Overflow}, leased: c.Leased,
		safe: uint64(s.WallSafe), drifts: s.Drifts,
	}
	g.line.Name = format
	g.separate.Store(uint32(s.SequenceMin))
	if c.MaxBackward == 0 {
		g.maxBackward = defaultMaxBackward
	}
	g.fence.Fix(uint64(s.Partition.AsUint16()))
	g.word.Pass(uint64(s.WallHi)<<unitShift | uint64(s.Drifts&1)*tickTock | min(uint64(s.Sequence), g.max) + 1)
	if c.Leased {
		g.fence.Refuse(iderr.ErrFenced)
	} else {
		g.word.Open()
	}
	return g, nil
}

// New generates a new ID using the current system time for its timestamp.
//
// It waits for the next time unit if the sequence of this one is used up, and, when the
// clock has gone back a second time, until it is out of the time that both settings of the
// tick-tock bit have used. Having no error to return, it also waits for a clock that is
// before the epoch, for times to be allotted, and for ever after the last timestamp: see
// [Generator.Next]. A Generator that NewGenerator did not make, or that is sealed, returns
// the zero ID. New does not allocate,
// unless it waits for a clock for longer than Next does.
func (g *Generator) New(meta byte) ID {
	for {
		id, err := g.Next(context.Background(), meta)
		if err == nil || errors.Is(err, iderr.ErrNotReady) || g.fence.Sealed() {
			return id
		}
		var behind *ClockError
		var out *TimeError
		switch {
		case errors.As(err, &behind):
			g.clock.Await(behind.By)
		case errors.As(err, &out) && out.Time.Before(out.First):
			g.clock.Await(out.First.Sub(out.Time))
		default:
			clock.Pause(time.Second)
		}
	}
}

// Next is [Generator.New] with a context and errors: it returns a *[ClockError] if the
// clock is further than Config.MaxBackward, 5 s by default, from leaving a time that is
// used up, a *[TimeError] if it is out of the timestamps' range, and an error that wraps
// ctx's when that ends. It does not look at ctx unless it must wait.
func (g *Generator) Next(ctx context.Context, meta byte) (ID, error) {
	word, ok := g.fast()
	if !ok {
		var err error
		if word, err = g.next(ctx); err != nil {
			return zero, err
		}
	}
	var id ID
	g.put(&id, word, meta)
	return id, nil
}

// next is the part of Next that is not fast.
func (g *Generator) next(ctx context.Context) (uint64, error) {
	if !g.line.Busy() {
		if word, _, r := g.try(1); r.kind == none {
			return word, nil
		}
	}
	word, _, err := g.line.Stand(ctx, 1, (*source)(g))
	return word, err
}

// TryNext is [Generator.Next] that never waits: it returns [ErrExhausted] when the
// sequence of the time unit is used up or belongs to callers who wait for it, and a
// *[ClockError] where Next waits for the clock.
func (g *Generator) TryNext(meta byte) (ID, error) {
	word, ok := g.fast()
	if !ok {
		var err error
		if word, err = g.tryNext(); err != nil {
			return zero, err
		}
	}
	var id ID
	g.put(&id, word, meta)
	return id, nil
}

// tryNext is the part of TryNext that is not fast.
func (g *Generator) tryNext() (uint64, error) {
	if g.line.Busy() {
		return 0, g.err(g.beside())
	}
	word, _, r := g.try(1)
	if r.kind != none {
		return 0, g.err(r)
	}
	return word, nil
}

// beside returns why there is no word for a caller who does not stand in line: those who
// do come first, or the clock is in an unsafe time for all.
func (g *Generator) beside() (r refusal) {
	last := g.word.Last()
	if !g.read(&r) {
		return r
	}
	if !g.word.Allows(r.unit << unitShift) {
		if begins, again := g.fence.Enter((*allotment)(g), r.unit); !again {
			r.kind, r.from = fenced, begins
			return r
		}
	}
	g.mu.Lock() // the tick-tock bit does not change
	defer g.mu.Unlock()
	// If the word has changed since the clock was read, the line is being served.
	if _, _, r.kind = g.follow(last, r.unit, 1); r.kind == unsafeTime && r.unit <= g.safe && last == g.word.Last() {
		r.from = g.freeFrom(last)
		return r
	}
	r.kind = exhausted
	return r
}

// Fill fills dst with new IDs, in order, reserving all it can of a time unit in one step
// and waiting as [Generator.Next] does. It returns how many it made, and the error if
// that is less than len(dst).
func (g *Generator) Fill(ctx context.Context, meta byte, dst []ID) (int, error) {
	for done := 0; ; {
		if done == len(dst) {
			return done, nil
		}
		_, run, err := g.some(ctx, meta, dst[done:])
		if err != nil {
			return done, err
		}
		done += run
	}
}

// Seq returns an iterator over n new IDs, or without end if n is negative, which waits as
// [Generator.Next] does. An error is the last that it yields.
//
// It makes IDs in runs, as Fill does, of up to 256 for a caller who is fast and one by one for
// one who is slow: an ID's time is that of its run. A loop that is left leaves the rest of a run unused.
//
// IDs are in the order of [Generator.Next]. Callers of other methods can have greater IDs
// meanwhile, but none of a later time unit: once somebody has one, the rest of the run is dropped.
// A loop that pauses while nobody else makes IDs goes on with the run from before the pause.
func (g *Generator) Seq(ctx context.Context, meta byte, n int) iter.Seq2[ID, error] {
	return batch.Seq(n, &g.word, sequence, func(dst []ID) (uint64, int, error) { return g.some(ctx, meta, dst) })
}

// some fills the beginning of dst with a run of IDs, of one time unit.
func (g *Generator) some(ctx context.Context, meta byte, dst []ID) (uint64, int, error) {
	word, run, ok := g.fastRun(len(dst))
	if !ok && !g.line.Busy() {
		var r refusal
		word, run, r = g.try(len(dst))
		ok = r.kind == none
	}
	if !ok {
		var err error
		if word, run, err = g.line.Stand(ctx, len(dst), (*source)(g)); err != nil {
			return 0, 0, err
		}
	}
	var id ID
	g.put(&id, word, meta)
	for i := range dst[:run] {
		dst[i] = id
		binary.BigEndian.PutUint16(dst[i][8:], uint16(word)+uint16(i))
	}
	return word, run, nil
}

// put sets id to the ID of a word. In place: a copy of ten bytes that were just written in
// two parts costs as much as the rest.
func (g *Generator) put(id *ID, word uint64, meta byte) {
	unit := unitIn(word)
	binary.BigEndian.PutUint64(id[:8], (unit<<1|word>>23&1)<<24|uint64(meta)<<16|g.fence.Worker(unit))
	binary.BigEndian.PutUint16(id[8:], uint16(word))
}

// NewWithTime generates a new ID using the given time for the timestamp; a time that the
// timestamp cannot hold counts as the nearest one that it can.
//
// These IDs are exempt from the tick-tock mechanism and use a sequence separate from
// New's, one that is independent of time: it increases up to SequenceMax, then starts
// over at SequenceMin without waiting. Collisions due to the arbitrary time are left to
// the user. It is meant for porting old IDs, before an ID scheme goes online. The sequence
// that would make the zero ID is left out.
func (g *Generator) NewWithTime(meta byte, t time.Time) ID {
	if g.max == 0 {
		return zero
	}
	u, _ := unitOf(t)
	for {
		seq := g.separate.Load()
		next := seq + 1
		if next > uint32(g.max) {
			next = uint32(g.min)
		}
		if !g.separate.CompareAndSwap(seq, next) {
			continue
		}
		if id := pack(u<<1, meta, g.Partition(), uint16(seq)); id != zero {
			return id
		}
	}
}

// ExpiresAt returns when timestamps run out, in 2079. From then on Next, TryNext and Fill
// return a *[TimeError].
func (g *Generator) ExpiresAt() time.Time { return timeOf(MaxTimestamp + 1) }

// Partition returns the fixed identifier of the Generator; if it is allotted its
// partitions, the latest.
func (g *Generator) Partition() Partition {
	var p Partition
	if g.max > 0 {
		p.PutUint16(uint16(g.fence.Worker(MaxTimestamp)))
	}
	return p
}

// SequenceMin returns the lower bound of the sequence pool of this generator.
func (g *Generator) SequenceMin() uint16 { return uint16(g.min) }

// SequenceMax returns the upper bound of the sequence pool of this generator.
func (g *Generator) SequenceMax() uint16 { return uint16(g.max) }

// Cap returns the total capacity of the Generator: the IDs of a time unit.
//
// To get its current capacity (e.g. number of possible additional IDs in the current
// timeframe), simply:
//
//	spare := generator.Cap() - generator.Len()
//
// The result will always be non-negative.
func (g *Generator) Cap() int {
	if g.max == 0 { // NewGenerator did not make it
		return 0
	}
	return int(g.max-g.min) + 1
}

// Len returns the number of IDs generated in the current timeframe.
func (g *Generator) Len() int {
	last, current := g.current()
	if !current {
		return 0
	}
	return int(min(last&sequence, g.max)-g.min) + 1
}

// Sequence returns the current sequence the Generator is at.
//
// This does *not* mean that if one were to call New() right now, the generated ID will
// necessarily get this sequence, as other things may happen before.
//
// If the next call to New() would result in a reset of the sequence, SequenceMin is
// returned instead of the current internal sequence.
//
// If the generator is currently overflowing, the sequence returned will be higher than
// the generator's SequenceMax by the number of calls that wait.
func (g *Generator) Sequence() uint32 {
	last, current := g.current()
	if !current {
		return uint32(g.min)
	}
	return g.overflowed(last)
}

// overflowed returns the sequence of the last word, and above SequenceMax the number of
// the calls that wait.
func (g *Generator) overflowed(last uint64) uint32 {
	seq := last & sequence
	if seq >= g.max {
		seq = g.max + uint64(g.line.Len())
	}
	return uint32(seq)
}

// current returns the last word; current tells whether it is of the clock's time unit.
func (g *Generator) current() (last uint64, current bool) {
	last = g.word.Last()
	u, ok := unitOf(g.clock.Now())
	return last, ok && u == unitIn(last) && u > 0
}

// Snapshot returns a copy of the Generator's current bookkeeping data. To restore a
// generator, take it after the last ID: it knows of no ID that is made later. If another
// call is reading the clock, Now is WallHi.
func (g *Generator) Snapshot() GeneratorSnapshot {
	g.mu.Lock() // the tick-tock bit does not change
	last := g.word.Last()
	s := GeneratorSnapshot{
		Partition:   g.Partition(),
		SequenceMin: uint16(g.min), SequenceMax: uint16(g.max), Sequence: uint32(g.min),
		WallHi: int64(unitIn(last)), WallSafe: int64(g.safe), Drifts: g.drifts,
	}
	g.mu.Unlock()
	if s.WallHi > 0 {
		s.Sequence = g.overflowed(last)
	}
	s.Now = s.WallHi
	if now, ok := g.snapshotUnit(); ok { // after the word, so that it is not behind that
		s.Now = int64(now)
	}
	return s
}

// snapshotUnit returns the clock's unit for Snapshot. If another Snapshot is reading the clock,
// ok is false: the clock, which can be a program's own, may have asked for this one.
func (g *Generator) snapshotUnit() (now uint64, ok bool) {
	if !g.taking.CompareAndSwap(false, true) {
		return 0, false
	}
	defer g.taking.Store(false)
	now, _ = unitOf(g.clock.Now())
	return now, true
}

// refusal is why no word was issued, as values: errors are made of it only for a caller
// who is to see one.
type refusal struct {
	kind refusalKind
	time time.Time  // the clock's
	mark clock.Mark // of the same moment
	unit uint64     // the clock's
	from uint64     // the first unit that is safe, if the clock is in an unsafe time; if fenced, of a later interval, or 0
}

type refusalKind uint8

const (
	none refusalKind = iota
	exhausted
	unsafeTime
	outOfRange
	fenced
	notReady
)

// fast issues a word if that takes no decision: nobody stands in line, the unit of the
// last word goes on, and the word is below its end and the fence.
func (g *Generator) fast() (uint64, bool) {
	d := clock.Deadline(g.lasts.Load())
	if g.line.Busy() || !d.AheadByCycles() && !d.AheadBySystem() {
		return 0, false
	}
	if word, ok := g.word.Step(g.max+1, sequence); ok {
		return word, true
	}
	g.word.Trim(g.max+1, sequence)
	return 0, false
}

// fastRun is fast for a run of up to n words.
func (g *Generator) fastRun(n int) (uint64, int, bool) {
	if g.line.Busy() || !clock.Deadline(g.lasts.Load()).Ahead() {
		return 0, 0, false
	}
	for {
		last := g.word.Last()
		run := min(n, int(g.max)-int(last&sequence))
		if run < 1 {
			return 0, 0, false
		}
		switch g.word.Replace(last, last+uint64(run)) {
		case tick.Issued:
			return last + 1, run, true
		case tick.Fenced:
			return 0, 0, false
		}
	}
}

// went notes that a word of the unit of the reading was issued.
func (g *Generator) went(r refusal) {
	g.lasts.Store(uint64(r.mark.In(TimeUnit - time.Duration(r.time.Nanosecond())%TimeUnit)))
}

// try issues a run of up to n words at the clock's time, or says why it cannot.
func (g *Generator) try(n int) (word uint64, run int, r refusal) {
	if word, run, r = g.within(n); r.kind != fenced {
		return word, run, r
	}
	begins, again := g.fence.Enter((*allotment)(g), r.unit)
	if again {
		if word, run, r = g.within(n); r.kind != fenced {
			return word, run, r
		}
	}
	r.from = begins
	return 0, 0, r
}

// within is try in the times that the fence leaves.
func (g *Generator) within(n int) (word uint64, run int, r refusal) {
	turns := g.turns.Load()
	if !g.read(&r) {
		return 0, 0, r
	}
	for {
		last := g.word.Last()
		if now := g.turns.Load(); now != turns {
			// The clock has gone back, perhaps since it was read: a reading from before
			// would take the new line to where the other one was used.
			turns = now
			if !g.read(&r) {
				return 0, 0, r
			}
			continue
		}
		if word, run, r.kind = g.follow(last, r.unit, n); r.kind != none {
			break
		}
		switch g.word.Replace(last, word+uint64(run-1)) {
		case tick.Issued:
			g.went(r)
			return word, run, r
		case tick.Fenced:
			r.kind = g.noWord()
			return 0, 0, r
		}
	}
	if r.kind == unsafeTime {
		return g.goBack(n)
	}
	return 0, 0, r
}

// read reads the clock; it returns false if that is out of range.
func (g *Generator) read(r *refusal) (ok bool) {
	r.kind = none
	r.time, r.mark = g.clock.Mark()
	r.unit, ok = unitOf(r.time)
	if !ok || r.unit == 0 {
		r.kind = outOfRange
	}
	return r.kind == none
}

// follow returns the run of up to n words that follows the last one on its time line, or
// why there is none: the unit is used up, or behind the last word's.
func (g *Generator) follow(last, unit uint64, n int) (word uint64, run int, kind refusalKind) {
	seq := last & sequence
	switch lastUnit := unitIn(last); {
	case unit > lastUnit:
		return last&tickTock | unit<<unitShift | g.min, min(n, g.Cap()), none
	case unit < lastUnit:
		return 0, 0, unsafeTime
	case seq >= g.max:
		return 0, 0, exhausted
	}
	return last + 1, min(n, int(g.max-seq)), none
}

// noWord tells a generator that a lease keeps from minting from one that nobody made.
func (g *Generator) noWord() refusalKind {
	if g.max == 0 {
		return notReady
	}
	return fenced
}

// goBack is try for a clock that seems to have gone back.
//
// IDs are made on two time lines, which the tick-tock bit tells apart. Each is used in
// increasing order up to the unit at which it was last left, and safe holds that of the
// line that is not in use. So a clock that goes back behind the last word finds the other
// line unused if it stays above safe: then the bit changes, and the line that is left is
// safe up to the last word. Otherwise both lines have used the clock's unit, and there is
// no ID to be had until the clock is where one of them is free: past safe, or at the last
// word again.
//
// The clock is read without the lock: it can be a program's own and take a Snapshot. If the last word
// still is the same under the lock, neither the line nor safe has changed since.
func (g *Generator) goBack(n int) (word uint64, run int, r refusal) {
	for verdict := tick.Lost; verdict == tick.Lost; {
		// Another caller may have read its clock later than this one and been quicker.
		// Only a reading taken after its word was seen shows that the clock went back.
		last := g.word.Last()
		if !g.read(&r) {
			return 0, 0, r
		}
		word, run, verdict = g.turn(last, n, &r)
	}
	return word, run, r
}

// turn issues a run of up to n words on one line or the other, at the time that r was read, or says in r
// why it cannot. The word last was seen before that. If it is no longer the last word, the verdict is Lost.
func (g *Generator) turn(last uint64, n int, r *refusal) (word uint64, run int, verdict tick.Verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.word.Last() != last {
		return 0, 0, tick.Lost
	}
	word, run, r.kind = g.follow(last, r.unit, n)
	back := r.kind == unsafeTime
	if back && r.unit > g.safe {
		word, run, r.kind = ^last&tickTock|r.unit<<unitShift|g.min, min(n, g.Cap()), none
		g.lasts.Store(0) // the unit of the other line was longer, if anything
		g.turns.Add(1)
	}
	if r.kind != none {
		r.from = g.freeFrom(last)
		if g.fence.Sealed() { // there is no waiting for that
			r.kind = fenced
		}
		return 0, 0, tick.Spent
	}
	switch verdict = g.word.Replace(last, word+uint64(run-1)); verdict {
	case tick.Issued:
		if back {
			g.safe = unitIn(last)
			g.drifts++
		}
		g.went(*r)
	case tick.Fenced:
		r.kind = g.noWord()
		return 0, 0, verdict
	}
	return word, run, verdict
}

// freeFrom returns the first unit in which a clock that is in an unsafe time finds either
// line free. mu is held.
func (g *Generator) freeFrom(last uint64) uint64 {
	from := unitIn(last)
	if last&sequence >= g.max {
		from++
	}
	return min(from, g.safe+1)
}

// err returns the error that a caller sees of r.
func (g *Generator) err(r refusal) error {
	switch r.kind {
	case exhausted:
		return errExhausted
	case unsafeTime:
		return &iderr.ClockError{Format: format, By: r.untilSafe()}
	case outOfRange:
		if g.fence.Sealed() { // for good, whatever the time
			return g.fence.Err(format)
		}
		return &iderr.TimeError{Format: format, Time: r.time, First: timeOf(1), Last: timeOf(MaxTimestamp)}
	case fenced:
		if r.from > r.unit {
			return g.fence.ErrBefore(format, timeOf(r.from), r.time)
		}
		return g.fence.Err(format)
	}
	return iderr.ErrNotReady
}

// untilSafe returns how long the clock has to run until it leaves the unsafe time, or is in a
// later interval.
func (r refusal) untilSafe() time.Duration { return timeOf(r.from).Sub(r.time) }

// source is the generator as its line sees it.
type source Generator

// Try implements line.Source.
func (s *source) Try(n int) (uint64, int, time.Duration, error) {
	g := (*Generator)(s)
	word, run, r := g.try(n)
	switch {
	case r.kind == none:
		return word, run, 0, nil
	case r.kind == exhausted:
		g.overflow.report(r.time, r.unit, g.line.Len(), g.line.Formed())
		return 0, 0, timeOf(r.unit + 1).Sub(r.time), nil
	case r.kind == unsafeTime && r.untilSafe() <= g.maxBackward:
		return 0, 0, r.untilSafe(), nil
	case r.kind == fenced && g.fence.Waits() && r.untilSafe() <= max(g.maxBackward, TimeUnit):
		return 0, 0, max(r.untilSafe(), time.Millisecond), nil
	}
	return 0, 0, 0, g.err(r)
}

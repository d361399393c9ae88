package sno_test

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	systemclock "github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/sno"
)

// The soak draws IDs with many goroutines from generators of the whole sequence pool and of
// the smallest, while their clock runs fast, slow and back, and looks for an ID that was
// issued before. A run by hand:
//
//	go test ./sno -run 'TestSoak$' -count=1 -v -timeout 3h -ids 10000000000
var draw = flag.Int64("ids", 3_000_000, "IDs to draw in the soak")

// A shakyClock runs at a speed that changes every few milliseconds, from that of real
// time, at which units are spent, to fifty times, at which they are short; and it is set
// forward and back.
type shakyClock struct {
	began time.Time // for real
	now   atomic.Pointer[course]

	mu     sync.Mutex
	random *rand.Rand
	high   int64 // the most it has shown
	twice  bool  // the clock was set back and will be again soon
}

// course is how the clock runs between two changes. It is one value, so that no reading
// mixes an old offset with a new speed.
type course struct {
	elapsed, shown int64 // ns since began and since shakyStart, at the change
	until          int64 // as elapsed, when it ends
	speed          float64
}

// mostBehind is how far the clock ever is behind the most it has shown. That is what makes
// the search for duplicates exact in little memory: no ID is ever of a time before floor.
const mostBehind = 2 * time.Second

// shakyStart is what the clock shows first.
var shakyStart = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func newShakyClock(seed uint64) *shakyClock {
	c := &shakyClock{began: time.Now(), random: rand.New(rand.NewPCG(seed, 2))}
	c.now.Store(&course{shown: int64(mostBehind), speed: 1})
	return c
}

func (k *course) at(elapsed int64) int64 {
	return k.shown + int64(float64(max(elapsed-k.elapsed, 0))*k.speed)
}

// read returns what the clock shows. The first to read it after the end of a course changes
// it; another goroutine to do so would not get its turn among those that draw.
func (c *shakyClock) read() time.Time {
	for {
		course := c.now.Load()
		elapsed := int64(time.Since(c.began))
		if elapsed >= course.until && c.mu.TryLock() {
			c.change(elapsed)
			c.mu.Unlock()
			continue
		}
		if course == c.now.Load() { // else the course may be long past
			return shakyStart.Add(time.Duration(course.at(elapsed)))
		}
	}
}

// change gives the clock a new speed, and one time in three a step, unless it was just
// changed by another. mu is held. A step back is mostly small and long after the one
// before, so that one setting of the tick-tock bit was not used there; one time in two
// another follows soon, into a time that both have used. Generators look at the clock once in
// a unit of real time, so it then runs as slowly as that for long enough to see both.
func (c *shakyClock) change(elapsed int64) {
	course := *c.now.Load()
	if elapsed < course.until {
		return
	}
	shown := course.at(elapsed)
	c.high = max(c.high, shown)
	lasts, speed := c.random.Int64N(int64(10*time.Millisecond)), c.logUniform(1, 50)
	slowly := func() { lasts, speed = int64(2*sno.TimeUnit), 1 }
	switch step := int64(c.logUniform(1, 400) * float64(time.Millisecond)); {
	case c.twice:
		shown = c.setBack(shown, step)
		c.twice = false
		slowly()
	case c.random.IntN(3) > 0:
	case c.random.IntN(2) == 0:
		shown += step
	default:
		shown = c.setBack(shown, step)
		if c.twice = c.random.IntN(2) == 0; c.twice {
			slowly()
		}
	}
	course.elapsed, course.shown, course.until, course.speed = elapsed, shown, elapsed+lasts, speed
	c.now.Store(&course)
}

func (c *shakyClock) setBack(shown, by int64) int64 { return max(shown-by, c.high-int64(mostBehind)) }

// logUniform returns a number of from to to, as likely in 1 to 2 as in 10 to 20.
func (c *shakyClock) logUniform(from, to float64) float64 {
	return from * math.Pow(to/from, c.random.Float64())
}

// floor returns a time that is before all that the clock will show from now on: it runs
// forward from what it shows, and a step back ends no further than mostBehind from high.
func (c *shakyClock) floor() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.high = max(c.high, c.now.Load().at(int64(time.Since(c.began))))
	return shakyStart.Add(time.Duration(c.high) - mostBehind - stale)
}

// stale is how far the clock can get while a unit lasts by the counters, which go on as ever.
const stale = 50 * sno.TimeUnit

// A ledger has a bit for each word that was issued in a time that the clock can still
// show. It is exact: a word of a time before that is a fault in itself.
type ledger struct {
	name  string
	units map[uint64]*bits // by unit and tick-tock bit
	spare []*bits
	floor uint64 // the first unit and bit that may come
	begun int64  // how many units were begun, on either line
}

type bits [1 << 16 / 64]uint64

var errDuplicate = errors.New("was issued twice")

// enter enters words as key returns them.
func (l *ledger) enter(words []uint64) error {
	var current *bits
	at := ^uint64(0)
	for _, w := range words {
		if w>>16 != at {
			at = w >> 16
			if at < l.floor {
				return fmt.Errorf("%s: unit %d, tick-tock %d is before any time the clock showed", l.name, at>>1, at&1)
			}
			if current = l.units[at]; current == nil {
				if current = new(bits); len(l.spare) > 0 {
					current = l.spare[len(l.spare)-1]
					l.spare = l.spare[:len(l.spare)-1]
					clear(current[:])
				}
				l.units[at] = current
				l.begun++
			}
		}
		word, bit := &current[w>>6&1023], uint64(1)<<(w&63)
		if *word&bit != 0 {
			return fmt.Errorf("%s: unit %d, tick-tock %d, sequence %d %w", l.name, at>>1, at&1, w&0xffff, errDuplicate)
		}
		*word |= bit
	}
	return nil
}

// forget strikes off the units before floor.
func (l *ledger) forget(floor time.Time) {
	l.floor = uint64(floor.Sub(epoch)/sno.TimeUnit) << 1
	for at, b := range l.units {
		if at < l.floor {
			delete(l.units, at)
			l.spare = append(l.spare, b)
		}
	}
}

// key is the word of an ID: unit, tick-tock bit and sequence.
func key(id sno.ID) uint64 {
	return binary.BigEndian.Uint64(id[:])>>24<<16 | uint64(binary.BigEndian.Uint16(id[8:]))
}

// A minter is a generator, or a wrong one that the soak has to find out.
type minter interface {
	New(meta byte) sno.ID
	TryNext(meta byte) (sno.ID, error)
	Fill(ctx context.Context, meta byte, dst []sno.ID) (int, error)
}

// soakEvents is how often the things happened that make a soak worth something.
type soakEvents struct {
	begun     int64 // units that have IDs, on either line
	exhausted int64 // calls of TryNext that found the unit spent
	unsafe    int64 // calls of TryNext and Fill that found the clock in a time that both lines have used
}

// A drawer is one goroutine of the soak.
type drawer struct {
	minter  minter
	ledger  *ledger
	random  *rand.PCG
	words   []uint64 // of this round
	batch   [64]sno.ID
	longest int // call of Fill
	soakEvents
	err error
}

// collect draws IDs until it has a round of them, or another has. None of its calls goes on
// after it, so that no ID of a round has an older reading of the clock than the round.
func (d *drawer) collect(full *atomic.Bool) {
	d.words = d.words[:0]
	for !full.Load() {
		if len(d.words) > cap(d.words)-len(d.batch) {
			full.Store(true)
			return
		}
		r := d.random.Uint64()
		meta := byte(r >> 8)
		switch {
		case r%64 == 0:
			n := 1 + int(r>>32%uint64(d.longest))
			got, err := d.minter.Fill(context.Background(), meta, d.batch[:n])
			for _, id := range d.batch[:got] {
				d.words = append(d.words, key(id))
			}
			if errors.Is(err, sno.ErrClockBackwards) {
				d.unsafe++
			} else if err != nil {
				d.err = err
			}
		case r%8 == 1:
			id, err := d.minter.TryNext(meta)
			switch {
			case err == nil:
				d.words = append(d.words, key(id))
			case errors.Is(err, sno.ErrExhausted):
				d.exhausted++
			case errors.Is(err, sno.ErrClockBackwards):
				d.unsafe++
			default:
				d.err = err
			}
		default:
			d.words = append(d.words, key(d.minter.New(meta)))
		}
		if d.err != nil {
			full.Store(true)
			return
		}
	}
}

// soak draws IDs until it has so many and enough has happened, at most 100 times as many.
func soak(t *testing.T, clock *shakyClock, drawers []*drawer, ids int64, enough func(soakEvents) bool) (drawn int64, happened soakEvents, err error) {
	began := time.Now()
	for round := 0; ; round++ {
		var full atomic.Bool
		var all sync.WaitGroup
		for _, d := range drawers {
			all.Go(func() { d.collect(&full) })
		}
		all.Wait()
		happened = soakEvents{}
		before := drawn
		ledgers := map[*ledger]bool{}
		for _, d := range drawers {
			if err := errors.Join(d.err, d.ledger.enter(d.words)); err != nil {
				return drawn, happened, err
			}
			drawn += int64(len(d.words))
			happened.exhausted += d.exhausted
			happened.unsafe += d.unsafe
			ledgers[d.ledger] = true
		}
		floor := clock.floor()
		for l := range ledgers {
			happened.begun += l.begun
			if round%16 == 0 {
				l.forget(floor)
			}
		}
		if drawn >= ids && enough(happened) {
			return drawn, happened, nil
		}
		if drawn >= 100*ids {
			return drawn, happened, fmt.Errorf("after %d IDs no more has happened than %+v", drawn, happened)
		}
		if drawn/1e9 > before/1e9 {
			t.Logf("%d IDs in %v", drawn, time.Since(began).Round(time.Second))
		}
	}
}

func newDrawer(m minter, l *ledger, seed uint64, room, longest int) *drawer {
	return &drawer{minter: m, ledger: l, random: rand.NewPCG(seed, 1), words: make([]uint64, 0, room), longest: longest}
}

func newLedger(name string) *ledger { return &ledger{name: name, units: map[uint64]*bits{}} }

// TestSoak has the system's clock be as bad, so that generators read it as they do in use.
func TestSoak(t *testing.T) {
	clock := newShakyClock(1)
	set := func(time.Time) time.Time { return clock.read() }
	systemclock.Set.Store(&set)
	defer systemclock.Set.Store(nil)
	soakBy(t, clock, nil)
}

// TestSoakReading has a clock that the program brings along, which is read for each ID.
func TestSoakReading(t *testing.T) {
	clock := newShakyClock(1)
	soakBy(t, clock, clock.read)
}

func soakBy(t *testing.T, clock *shakyClock, read func() time.Time) {
	overflows := make(chan *sno.SequenceOverflowNotification, 1024)
	generator := func(s sno.GeneratorSnapshot, maxBackward time.Duration) *sno.Generator {
		return newGenerator(t, sno.Config{Snapshot: &s, Clock: read, Overflow: overflows, MaxBackward: maxBackward})
	}
	var notified atomic.Int64
	go func() {
		for range overflows {
			notified.Add(1)
		}
	}()
	defer close(overflows)

	var generators []*sno.Generator
	var ledgers []*ledger
	var drawers []*drawer
	for i, of := range []struct {
		name        string
		drawers     int
		longest     int // call of Fill
		min, max    uint16
		maxBackward time.Duration
	}{
		{"whole pool, waiting", 3, 64, 0, 65535, 0},
		{"whole pool, not waiting", 3, 64, 0, 65535, -1}, // so that an unsafe time shows
		{"pool of 4", 2, 8, 1000, 1003, 0},
	} {
		s := sno.GeneratorSnapshot{Partition: sno.Partition{byte(i)}, SequenceMin: of.min, SequenceMax: of.max}
		g := generator(s, of.maxBackward)
		l := newLedger(of.name)
		generators, ledgers = append(generators, g), append(ledgers, l)
		for n := range of.drawers {
			drawers = append(drawers, newDrawer(g, l, uint64(len(drawers)+n), 1<<18, of.longest))
		}
	}
	drifts := func() (each []uint32) {
		for _, g := range generators {
			each = append(each, g.Snapshot().Drifts)
		}
		return each
	}
	began := time.Now()
	drawn, happened, err := soak(t, clock, drawers, *draw, func(e soakEvents) bool {
		return ledgers[0].begun+ledgers[1].begun >= *draw/100_000 && e.exhausted > 0 && e.unsafe > 0 && notified.Load() > 0 &&
			slices.Min(drifts()) > 0
	})
	took := time.Since(began)
	t.Logf("%d IDs in %v, %.1f million a second; %d, %d and %d units begun; %d regressions; "+
		"%d times a spent unit and %d times an unsafe time was found; %d notifications of overflows",
		drawn, took.Round(time.Millisecond), float64(drawn)/1e6/took.Seconds(),
		ledgers[0].begun, ledgers[1].begun, ledgers[2].begun, drifts(), happened.exhausted, happened.unsafe, notified.Load())
	if err != nil {
		t.Fatal(err)
	}
}

// twoAtomics makes snos the obvious wrong way: the time in one atomic, the sequence in
// another.
type twoAtomics struct {
	clock func() time.Time
	unit  atomic.Int64
	seq   atomic.Int64
}

func (g *twoAtomics) TryNext(meta byte) (sno.ID, error) {
	now := int64(g.clock().Sub(epoch) / sno.TimeUnit)
	last := g.unit.Load()
	if now > last {
		g.unit.Store(now)
		runtime.Gosched() // without it the test would wait for the scheduler to do the same
		g.seq.Store(0)
		return sno.FromTime(at(now), meta, sno.Partition{}, 0)
	}
	seq := g.seq.Add(1)
	if seq > sno.MaxSequence {
		return sno.ID{}, sno.ErrExhausted
	}
	return sno.FromTime(at(last), meta, sno.Partition{}, uint16(seq))
}

func (g *twoAtomics) New(meta byte) sno.ID {
	for {
		if id, err := g.TryNext(meta); err == nil {
			return id
		}
		runtime.Gosched()
	}
}

func (g *twoAtomics) Fill(_ context.Context, meta byte, dst []sno.ID) (int, error) {
	for i := range dst {
		dst[i] = g.New(meta)
	}
	return len(dst), nil
}

// The soak finds a generator wrong that is, and does not find it wrong where it is right:
// with one goroutine.
func TestSoakFindsDuplicates(t *testing.T) {
	for _, goroutines := range []int{8, 1} {
		found := false
		for seed := uint64(0); seed < 100 && !found; seed++ {
			clock := newShakyClock(seed)
			g, l := &twoAtomics{clock: clock.read}, newLedger("two atomics")
			var drawers []*drawer
			for i := range goroutines {
				drawers = append(drawers, newDrawer(g, l, uint64(i), 1<<13, 64))
			}
			drawn, _, err := soak(t, clock, drawers, 300_000, func(soakEvents) bool { return true })
			if found = errors.Is(err, errDuplicate); found {
				t.Logf("after %d IDs: %v", drawn, err)
			} else if err != nil && goroutines > 1 {
				t.Error(err)
			}
			if goroutines == 1 {
				break
			}
		}
		if found != (goroutines > 1) {
			t.Errorf("%d goroutines, two atomics: found wrong is %v", goroutines, found)
		}
	}
}

// The ledger sees a word that comes again as long as the clock can show its time, and
// refuses one of a time that it cannot.
func TestLedger(t *testing.T) {
	l := newLedger("test")
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[uint64]bool{}
	for range 100_000 {
		w := uint64(1000+r.IntN(3))<<17 | uint64(r.IntN(2))<<16 | uint64(r.IntN(1<<14)<<2)
		if err := l.enter([]uint64{w}); errors.Is(err, errDuplicate) != seen[w] {
			t.Fatalf("%#x: %v, seen before %v", w, err, seen[w])
		}
		seen[w] = true
	}
	l.forget(at(1001))
	if l.enter([]uint64{1000<<17 | 1}) == nil {
		t.Error("a word of a time that was struck off")
	}
	for w := range seen {
		if err := l.enter([]uint64{w}); err == nil {
			t.Fatalf("%#x: not seen again", w)
		}
	}
	if l.begun != 6 || len(l.units) != 4 {
		t.Errorf("%d units begun, %d kept", l.begun, len(l.units))
	}
}

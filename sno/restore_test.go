package sno_test

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// restart restores a generator from a snapshot in JSON, as a program does that was down.
func restart(t testing.TB, g *sno.Generator, clock func() time.Time) *sno.Generator {
	t.Helper()
	saved, err := json.Marshal(g.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var s sno.GeneratorSnapshot
	if err := json.Unmarshal(saved, &s); err != nil {
		t.Fatal(err)
	}
	return newGenerator(t, sno.Config{Snapshot: &s, Clock: clock})
}

// The replaced package, v1.2.1, wrote the snapshots in testdata beside the IDs it had made by a clock that
// a program set. Restored with the clock in a used unit or next to one, a generator repeats no ID.
func TestRestoreOfReplacedPackage(t *testing.T) {
	type saved struct {
		State    string          `json:"state"`
		Snapshot json.RawMessage `json:"snapshot"`
		IDs      []sno.ID        `json:"ids"`
	}
	for _, c := range testkit.Load[saved](t, "snapshots.json") {
		var s sno.GeneratorSnapshot
		if err := json.Unmarshal(c.Snapshot, &s); err != nil {
			t.Fatal(err)
		}
		if back, err := json.Marshal(s); err != nil || string(back) != string(c.Snapshot) {
			t.Errorf("%s: %s is written as %s, %v", c.State, c.Snapshot, back, err)
		}
		used := map[uint64]bool{}
		starts := map[int64]bool{s.Now: true, s.Now + 1: true}
		for _, id := range c.IDs {
			used[word(id)] = true
			for u := unit(id) - 1; u <= unit(id)+1; u++ {
				starts[u] = true
			}
		}
		for start := range starts {
			h := newHands(start)
			g := h.generator(t, s)
			seen := maps.Clone(used)
			made := 0
			for ; h.unit() <= max(s.WallHi, s.WallSafe, start)+1; h.set(h.unit() + 1) {
				for {
					id, err := g.TryNext(0)
					if err != nil {
						break
					}
					if seen[word(id)] {
						t.Fatalf("%s, restored in unit %d: unit %d, tick-tock %d, sequence %d comes again",
							c.State, start, unit(id), id.TickTock(), id.Sequence())
					}
					seen[word(id)] = true
					made++
				}
			}
			if made < g.Cap() {
				t.Errorf("%s, restored in unit %d: %d IDs", c.State, start, made)
			}
		}
		// If a snapshot has the sequence of the last ID, the next ID follows it.
		if h := newHands(s.WallHi); s.WallHi == s.Now && s.Sequence < uint32(s.SequenceMax) {
			want(t, mustTry(t, h.generator(t, s)), s.WallHi, int(s.Drifts&1), uint16(s.Sequence)+1)
		}
	}
}

// In a random history a generator makes IDs, restarts, and has its clock set forward and back. No ID
// repeats.
func TestHistories(t *testing.T) {
	var restarts, drifts, unsafe, exhausted, doubled int
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 5))
		h := newHands(2_000_000)
		lower := uint16(r.IntN(1000))
		s := sno.GeneratorSnapshot{SequenceMin: lower, SequenceMax: lower + 3 + uint16(r.IntN(4))}
		g := h.generator(t, s)
		s.SequenceMin, s.SequenceMax = s.SequenceMax+1, 0
		other := h.generator(t, s) // shares the partition by bounds
		seen := map[uint64]bool{}
		units := map[int64]int{} // a bit for each line that has used a unit
		// Steps of a few units meet the same times again; others go up to an hour.
		reach := []int{3, 20, 900_000}[r.IntN(3)]
		for range 150 {
			switch r.IntN(10) {
			case 0:
				h.set(max(h.unit()-int64(r.IntN(reach)), 1))
			case 1:
				h.set(h.unit() + int64(r.IntN(reach)))
			case 2:
				g = restart(t, g, h.read)
				restarts++
			case 3: // down, and back with another clock
				h.set(max(h.unit()+int64(r.IntN(2*reach)-reach), 1))
				g = restart(t, g, h.read)
				other = restart(t, other, h.read)
			default:
				for range r.IntN(9) {
					for _, g := range []*sno.Generator{g, other} {
						id, err := g.TryNext(byte(r.IntN(256)))
						switch err.(type) {
						case nil:
						case *sno.ClockError:
							unsafe++
							continue
						default:
							exhausted++
							continue
						}
						if unit(id) != h.unit() {
							t.Fatalf("history %d: an ID of unit %d in unit %d", seed, unit(id), h.unit())
						}
						if seen[word(id)] {
							t.Fatalf("history %d: unit %d, tick-tock %d, sequence %d comes again", seed, unit(id), id.TickTock(), id.Sequence())
						}
						seen[word(id)] = true
						if units[unit(id)] |= 1 << id.TickTock(); units[unit(id)] == 3 {
							doubled++
						}
					}
				}
			}
		}
		drifts += int(g.Snapshot().Drifts)
	}
	t.Logf("%d restarts, %d regressions, %d refusals in unsafe time, %d in exhausted units, %d IDs of units that both lines used",
		restarts, drifts, unsafe, exhausted, doubled)
	if restarts == 0 || drifts == 0 || unsafe == 0 || exhausted == 0 || doubled == 0 {
		t.Error("a kind of event did not occur")
	}
}

// WallHi and Sequence of a snapshot are of one ID, also if an ID is made while the snapshot reads the clock,
// in the same unit or in the next. A restored generator repeats no ID from before the snapshot.
func TestSnapshotIsOfOneMoment(t *testing.T) {
	for _, next := range []int64{1000, 1001} {
		h := newHands(1000)
		var g *sno.Generator
		var meanwhile sno.ID
		armed := false
		read := func() time.Time {
			if armed {
				armed = false
				h.set(next)
				meanwhile = mustTry(t, g)
			}
			return h.read()
		}
		g = newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 99}, Clock: read})
		before := map[uint64]bool{}
		var last sno.ID
		for range 7 {
			last = mustTry(t, g)
			before[word(last)] = true
		}
		armed = true
		s := g.Snapshot()
		if armed {
			t.Fatal("the clock was not read")
		}
		told := s.WallHi<<16 | int64(s.Sequence)
		if told != unit(last)<<16|int64(last.Sequence()) && told != unit(meanwhile)<<16|int64(meanwhile.Sequence()) {
			t.Errorf("the snapshot has unit %d, sequence %d, which is neither %d, %d nor %d, %d", s.WallHi, s.Sequence,
				unit(last), last.Sequence(), unit(meanwhile), meanwhile.Sequence())
		}
		h.set(1000)
		restored := h.generator(t, s)
		for range 99 {
			if id, err := restored.TryNext(0); err == nil && before[word(id)] {
				t.Fatalf("unit %d, sequence %d comes again", unit(id), id.Sequence())
			}
		}
	}
}

// A load makes IDs by many goroutines until it is stopped.
type load struct {
	g       *sno.Generator
	workers [6]struct {
		ids  [1 << 14]sno.ID
		made atomic.Int64
	}
	quit atomic.Bool
	all  sync.WaitGroup
}

func (l *load) start() {
	for i := range l.workers {
		w := &l.workers[i]
		l.all.Go(func() {
			for n := range int64(len(w.ids)) {
				for {
					if l.quit.Load() {
						return
					}
					if id, err := l.g.TryNext(byte(n)); err == nil {
						w.ids[n] = id
						break
					}
					runtime.Gosched()
				}
				w.made.Store(n + 1)
			}
		})
	}
}

func (l *load) stop() { l.quit.Store(true); l.all.Wait() }

// made adds the words made so far to seen, and fails the test if seen has a word already.
func (l *load) made(t *testing.T, seen map[uint64]bool) {
	t.Helper()
	for i := range l.workers {
		w := &l.workers[i]
		for _, id := range w.ids[:w.made.Load()] {
			if seen[word(id)] {
				t.Fatalf("unit %d, tick-tock %d, sequence %d comes again", unit(id), id.TickTock(), id.Sequence())
			}
			seen[word(id)] = true
		}
	}
}

// The clock of a generator under load is set back now and then. The generator restarts from a snapshot with
// the clock ahead, equal or behind. If the load stops before the snapshot, no ID repeats. If the load runs
// on, no ID from before the snapshot repeats.
func TestRestoreUnderLoad(t *testing.T) {
	for _, running := range []bool{false, true} {
		for seed := range uint64(150) {
			r := rand.New(rand.NewPCG(seed, 6))
			h := newHands(2_000_000)
			g := h.generator(t, sno.GeneratorSnapshot{SequenceMax: 63})
			seen := map[uint64]bool{}
			for range 3 {
				l := &load{g: g}
				l.start()
				for range 5 + r.IntN(100) { // steps of the clock under load
					for range r.IntN(4) {
						runtime.Gosched()
					}
					step := int64(1)
					if r.IntN(10) == 0 {
						step = -int64(r.IntN(8))
					}
					h.set(h.unit() + step)
				}
				if running {
					before := map[uint64]bool{}
					l.made(t, before)
					g = restart(t, g, h.read)
					l.stop()
					for w := range before {
						seen[w] = true
					}
				} else {
					l.stop()
					l.made(t, seen)
					g = restart(t, g, h.read)
				}
				switch r.IntN(4) {
				case 0:
					h.set(h.unit() + int64(r.IntN(10)))
				case 1:
					h.set(h.unit() - int64(r.IntN(10)))
				case 2:
					h.set(h.unit() - int64(r.IntN(900_000)))
				}
			}
			// The IDs of the last generator, from used times on.
			for range 200 {
				for range 8 {
					id, err := g.TryNext(0)
					if err != nil {
						break
					}
					if seen[word(id)] {
						t.Fatalf("seed %d: unit %d, tick-tock %d, sequence %d comes again", seed, unit(id), id.TickTock(), id.Sequence())
					}
					seen[word(id)] = true
				}
				h.set(h.unit() + 1)
			}
		}
	}
}

// Generators that share a partition by bounds never collide, whatever their clocks do.
func TestShards(t *testing.T) {
	clocks := [3]*hands{}
	seen := map[uint64]bool{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range clocks {
		h := newHands(1_000_000)
		g := h.generator(t, sno.GeneratorSnapshot{SequenceMin: uint16(20 * i), SequenceMax: uint16(20*i + 19)})
		for worker := range 2 {
			r := rand.New(rand.NewPCG(uint64(i), uint64(worker)))
			all.Go(func() {
				ids := make([]sno.ID, 5)
				for range 4000 {
					if r.IntN(5) == 0 {
						h.set(h.unit() + int64(r.IntN(7)) - 2)
					}
					ctx, stop := context.WithCancel(context.Background())
					stop()
					n, _ := g.Fill(ctx, 0, ids)
					mu.Lock()
					for _, id := range ids[:n] {
						if seen[word(id)] {
							t.Errorf("unit %d, tick-tock %d, sequence %d is given twice", unit(id), id.TickTock(), id.Sequence())
						}
						seen[word(id)] = true
					}
					mu.Unlock()
				}
			})
		}
	}
	all.Wait()
	if len(seen) < 10_000 {
		t.Errorf("only %d IDs", len(seen))
	}
}

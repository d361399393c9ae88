package stats

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A model counts IDs in maps, without bounds.
type model struct {
	ticks   map[[2]uint64]uint64 // by tick and worker
	seconds map[int64]uint64     // by Unix seconds
	workers map[uint64]uint64
	periods map[int64]uint64 // by Unix milliseconds
}

// modelOf returns the model of IDs.
func modelOf(s shape.Shape, ids [][]byte) model {
	m := model{make(map[[2]uint64]uint64), make(map[int64]uint64), make(map[uint64]uint64), make(map[int64]uint64)}
	for _, id := range ids {
		t := s.Time(id)
		worker := uint64(0)
		if s.Worker > 0 {
			worker = s.Fields[s.Worker].Of(id)
		}
		m.ticks[[2]uint64{uint64(t.UnixMicro()), worker}]++
		m.seconds[t.Unix()]++
		m.workers[worker]++
		m.periods[t.UnixMilli()]++
	}
	return m
}

// greatest returns the key of the greatest number.
func greatest[K comparable](m map[K]uint64, compare func(a, b K) int) K {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int { return cmp.Or(cmp.Compare(m[b], m[a]), compare(a, b)) })
	return keys[0]
}

// made returns IDs of several workers, in the order of time: a few in most ticks, and many in some.
func made(tb testing.TB, f formats.Format, set shape.Settings, random *rand.Rand, n int) [][]byte {
	s, err := f.Descriptor().Of(set)
	testkit.OK(tb, err)
	now := time.Date(2025, 3, 30, 0, 59, 58, 0, time.UTC)
	clock := func() time.Time { return now }
	var generators []shape.Generator
	for worker := range min(s.Workers(), 3) {
		g, err := f.Descriptor().New(shape.Recipe{Settings: set, Clock: clock, Worker: worker})
		testkit.OK(tb, err)
		generators = append(generators, g)
	}
	var ids [][]byte
	for len(ids) < n {
		now = now.Add([]time.Duration{0, s.Unit, time.Second, time.Minute}[random.IntN(4)])
		burst := 1
		if random.IntN(10) == 0 {
			burst = 20
		}
		for range burst {
			id, err := generators[random.IntN(len(generators))].TryAppendBinary(nil, 1)
			if err == nil { // otherwise the tick is exhausted
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// settings are settings of a format to count by.
func settings(f formats.Format) []shape.Settings {
	all := []shape.Settings{{}}
	if f.Has("epoch") {
		all = append(all, shape.Settings{Epoch: time.Date(2020, 1, 1, 0, 0, 0, 7e6, time.UTC)})
	}
	if f.Has("node-bits") {
		all = append(all, shape.Settings{NodeBits: 4, Microseconds: true})
	}
	return all
}

// check compares a counter with the model. Bursts and fill depend on the order of the IDs: check compares them
// only if the counter split no tick, and then returns true.
func check(t *testing.T, s shape.Shape, c *counter, ids [][]byte) (whole bool) {
	t.Helper()
	m := modelOf(s, ids)
	if c.ids != uint64(len(ids)) {
		t.Errorf("%d IDs, want %d", c.ids, len(ids))
	}
	if ranking := c.ticks.ranking(); len(ranking) != len(m.workers) {
		t.Errorf("%d workers, want %d", len(ranking), len(m.workers))
	}
	for worker, n := range m.workers {
		if got := c.ticks.workers[uint32(worker)].ids; got != n {
			t.Errorf("worker %d has %d IDs, want %d", worker, got, n)
		}
	}
	times := slices.Sorted(maps.Keys(m.periods))
	if first, last := c.tickTime(c.first).UnixMilli(), c.tickTime(c.last).UnixMilli(); first != times[0] || last != times[len(times)-1] {
		t.Errorf("IDs from %d to %d, want %d to %d", first, last, times[0], times[len(times)-1])
	}
	h := c.line.histogram(1000, s.Unit.Milliseconds())
	bars := make([]uint64, len(h.Bars))
	var outside uint64
	for at, n := range m.periods {
		i, found := slices.BinarySearchFunc(h.Bars, time.UnixMilli(at), func(b barReport, at time.Time) int { return b.Time.Compare(at) })
		if !found {
			i--
		}
		if i < 0 || !time.UnixMilli(at).Before(h.unit.next(h.Bars[i].Time.Time)) {
			outside += n
			continue
		}
		bars[i] += n
	}
	for i, n := range bars {
		if h.Bars[i].IDs != n {
			t.Errorf("%d IDs in the %s from %v, want %d", h.Bars[i].IDs, h.unit.text, h.Bars[i].Time.Time, n)
		}
	}
	if outside != h.Before+h.After {
		t.Errorf("%d IDs before and %d after the histogram, want %d", h.Before, h.After, outside)
	}
	if c.ticks.split+c.seconds.split > 0 {
		return false
	}
	fullest := greatest(m.ticks, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
	if got := [2]uint64{uint64(c.tickTime(c.fullest.tick).UnixMicro()), uint64(c.fullest.worker)}; got != fullest || c.fullest.ids != m.ticks[fullest] {
		t.Errorf("fullest tick and worker %v of %d IDs, want %v of %d", got, c.fullest.ids, fullest, m.ticks[fullest])
	}
	busiest := greatest(m.seconds, cmp.Compare[int64])
	if got := c.secondTime(c.busiest.tick).Unix(); got != busiest || c.busiest.ids != m.seconds[busiest] {
		t.Errorf("busiest second %d of %d IDs, want %d of %d", got, c.busiest.ids, busiest, m.seconds[busiest])
	}
	shares := make([]uint64, full+1)
	for _, n := range m.ticks {
		shares[c.fill.place(n)]++
	}
	if !slices.Equal(shares, c.fill.ticks) || c.fill.ids.size() != int64(len(m.ticks)) || c.rates.size() != int64(len(m.seconds)) {
		t.Errorf("ticks by fill %v of %d, want %v; %d seconds, want %d", c.fill.ticks, c.fill.ids.size(), shares, c.rates.size(), len(m.seconds))
	}
	return true
}

// TestCount: a counter with little memory counts as maps do, or says that it does not: IDs in the order of time,
// one worker after another, and shuffled.
func TestCount(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	for _, f := range formats.All() {
		for _, set := range settings(f) {
			s, err := f.Descriptor().Of(set)
			testkit.OK(t, err)
			ids := made(t, f, set, random, 3000)
			workers := slices.Clone(ids)
			if s.Worker > 0 {
				slices.SortStableFunc(workers, func(a, b []byte) int {
					return cmp.Compare(s.Fields[s.Worker].Of(a), s.Fields[s.Worker].Of(b))
				})
			}
			shuffled := slices.Clone(ids)
			random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			for _, order := range []struct {
				name  string
				ids   [][]byte
				whole bool // whatever the memory
			}{{"time", ids, true}, {"workers", workers, true}, {"none", shuffled, false}} {
				for _, slots := range []int{32, 256, mostSlots} {
					t.Run(fmt.Sprintf("%s/%v/%s/%d", f.Name(), set.Microseconds, order.name, slots), func(t *testing.T) {
						c := newCounter(s)
						c.bound(slots, max(slots, 1<<12))
						for _, id := range order.ids {
							c.add(id)
						}
						c.close()
						whole := check(t, s, c, order.ids)
						if want := order.whole || slots == mostSlots; whole != want {
							t.Errorf("counted in whole: %v, want %v", whole, want)
						}
					})
				}
			}
		}
	}
}

// TestManyTimes: IDs of many times take the memory of a few, and none is lost.
func TestManyTimes(t *testing.T) {
	f, _ := formats.Lookup("scru160")
	s := f.Descriptor().Default()
	random := rand.New(rand.NewPCG(1, 2))
	c := newCounter(s)
	c.bound(1<<10, 1<<10)
	id := make([]byte, 20)
	const n = 200_000
	for range n {
		for i := range 8 {
			id[i] = byte(random.Uint32())
		}
		c.add(id)
	}
	c.close()
	h := c.line.histogram(mostBars, 1)
	all := h.Before + h.After
	for _, b := range h.Bars {
		all += b.IDs
	}
	if all != n || len(h.Bars) > mostBars || len(c.line.periods) > mostPeriods || len(c.ticks.young)+len(c.ticks.old) > 2<<10 {
		t.Errorf("%d IDs in %d bars, %d periods", all, len(h.Bars), len(c.line.periods))
	}
	if c.ticks.split == 0 {
		t.Error("no tick was late")
	}
}

// TestManyWorkers: workers of great numbers count like others.
func TestManyWorkers(t *testing.T) {
	r := newRecent(1<<10, func(slot) {})
	for i := range uint32(100) {
		r.add(5, i<<20, 1+uint64(i%2))
		r.add(4, i<<20, 1)
	}
	r.close()
	ranking := r.ranking()
	if len(ranking) != 100 || ranking[0] != (rank{1 << 20, 3}) || ranking[99] != (rank{98 << 20, 2}) {
		t.Errorf("%d workers: %v", len(ranking), ranking)
	}
}

// TestSplit: a tick that begins after a later one has ended counts as split, whatever has ended since.
func TestSplit(t *testing.T) {
	r := newRecent(4, func(slot) {})
	add := func(ticks ...uint64) {
		for _, tick := range ticks {
			r.add(tick, 0, 1)
		}
	}
	add(10, 3, 4, 5)
	add(20, 21, 22, 23, 24) // ends 10, 3, 4 and 5
	if r.split != 0 {
		t.Errorf("%d split", r.split)
	}
	add(7)
	if r.split != 1 {
		t.Errorf("%d split, want 1", r.split)
	}
	add(22)
	if r.split != 1 {
		t.Errorf("%d split after a tick that has not ended, want 1", r.split)
	}
}

// TestFill: ticks by the share of the capacity.
func TestFill(t *testing.T) {
	for ids, place := range map[uint64]int{1: single, 2: 2, 5: 2, 6: 3, 10: 3, 25: 4, 50: 5, 51: 6, 75: 6, 90: 7, 91: below, 99: below, 100: full, 101: full} {
		f := newFill(100)
		f.add(ids)
		if f.ticks[place] != 1 || f.ids.atMost(50) != int64(ids) {
			t.Errorf("%d of 100 IDs: %v", ids, f.ticks)
		}
	}
}

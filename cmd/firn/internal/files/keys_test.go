package files

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/spill"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A kind is a format with settings.
type kind struct {
	name string
	of   formats.Format
	set  shape.Settings
}

// kinds returns all formats, and settings that change their fields.
func kinds() []kind {
	var all []kind
	for _, f := range formats.All() {
		all = append(all, kind{f.Name(), f, shape.Settings{}})
		for name, set := range map[string]shape.Settings{
			"clock-bits": {ClockBits: 41, MachineBits: 3}, "node-bits": {NodeBits: 3, CounterBits: 2}, "micro": {Microseconds: true, NodeBits: 16},
		} {
			if f.Descriptor().Has(name) {
				all = append(all, kind{f.Name() + " " + name, f, set})
			}
		}
	}
	return all
}

func (k kind) shape() shape.Shape {
	s, err := k.of.Descriptor().Of(k.set)
	if err != nil {
		panic(err)
	}
	return s
}

// streams returns the IDs of n generators, the metabytes of which change where the format has such.
func (k kind) streams(tb testing.TB, n, each int) [][][]byte {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var all [][][]byte
	for worker := range n {
		s := k.shape()
		if last, ok := s.LastWorker(); ok {
			worker = min(worker, last)
		} else {
			worker = 0
		}
		r := shape.Recipe{Settings: k.set, Worker: worker, Clock: func() time.Time { now = now.Add(10 * time.Microsecond); return now }, Meta: byte(7 * worker)}
		g, err := k.of.Descriptor().New(r)
		testkit.OK(tb, err)
		ids, err := g.AppendBinary(context.Background(), nil, each)
		testkit.OK(tb, err)
		all = append(all, slices.Collect(slices.Chunk(ids, k.of.Descriptor().Size)))
	}
	return all
}

// TestWidth checks that files can hold the IDs of all formats: the numbers of verify have 192 bits.
func TestWidth(t *testing.T) {
	for _, f := range formats.All() {
		if size := f.Descriptor().Size; size > len(number{})*wordBytes {
			t.Errorf("an ID of %s has %d bytes, want at most %d", f.Name(), size, len(number{})*wordBytes)
		}
	}
}

// interleaved returns the IDs of streams, in runs of random lengths.
func interleaved(random *rand.Rand, streams [][][]byte) (ids [][]byte) {
	for len(streams) > 0 {
		i := random.IntN(len(streams))
		n := min(1+random.IntN(50), len(streams[i]))
		ids = append(ids, streams[i][:n]...)
		if streams[i] = streams[i][n:]; len(streams[i]) == 0 {
			streams = slices.Delete(streams, i, i+1)
		}
	}
	return ids
}

// nearby returns IDs that differ in few bits. Many of the IDs are equal.
func nearby(random *rand.Rand, k kind, n int) (ids [][]byte) {
	s, size := k.shape(), k.of.Descriptor().Size
	bits := make([]int, 11)
	for i := range bits {
		bits[i] = random.IntN(s.Bits())
	}
	for range n {
		id := make([]byte, size)
		for _, b := range bits {
			id[size-1-b/8] |= byte(random.IntN(2)) << (b % 8)
		}
		ids = append(ids, id)
	}
	return ids
}

// TestKeys compares keys with a map, for IDs in all orders and with many that come again. The memory is the
// least, so most is in temporary files.
func TestKeys(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for n, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(n), 3))
			shuffle := func(ids [][]byte) [][]byte {
				random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
				return ids
			}
			plant := func(ids [][]byte, n int) [][]byte {
				for range n {
					ids = slices.Insert(ids, random.IntN(len(ids)+1), ids[random.IntN(len(ids))])
				}
				return ids
			}
			sorted := func(ids [][]byte) [][]byte { slices.SortFunc(ids, bytes.Compare); return ids }
			made := interleaved(random, k.streams(t, 8, 1000))
			for name, ids := range map[string][][]byte{
				"none":        nil,
				"one":         made[:1],
				"one twice":   {made[0], made[0]},
				"as made":     made,
				"planted":     plant(slices.Clone(made), 5),
				"sorted":      sorted(plant(slices.Clone(made), 20)),
				"shuffled":    shuffle(plant(slices.Clone(made), 100)),
				"backwards":   reversed(plant(slices.Clone(made), 3)),
				"twice":       append(slices.Clone(made), made...),
				"nearby":      nearby(random, k, 6000),
				"nearby rise": sorted(nearby(random, k, 500)),
				"bounds":      bounds(k, random),
			} {
				compare(t, k, name, ids)
			}
		})
	}
}

func reversed(ids [][]byte) [][]byte {
	slices.Reverse(ids)
	return ids
}

// bounds returns the first and the last IDs of the format, several times.
func bounds(k kind, random *rand.Rand) (ids [][]byte) {
	s, size := k.shape(), k.of.Descriptor().Size
	for range 100 {
		for _, ts := range []int64{0, 1, s.LastTimestamp() - 1, s.LastTimestamp()} {
			ids = append(ids, s.First(size, ts), s.Last(size, ts))
		}
	}
	ids = append(ids, make([]byte, size))
	random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

// compare finds the repeated IDs with keys and with a map.
func compare(t *testing.T, k kind, name string, ids [][]byte) {
	t.Helper()
	s := k.shape()
	seen, last := make(map[string]bool), make(map[uint64]uint64)
	var want []string
	found := newKeys(s, k.of.Descriptor().Size, spill.LeastMemory)
	defer found.Close()
	for i, id := range ids {
		line := int64(2*i + 1)
		if seen[string(id)] {
			want = append(want, fmt.Sprintf("%d %x", line, id))
		}
		seen[string(id)] = true
		worker, ts := uint64(0), s.Fields[0].Of(id)
		if s.Worker > 0 {
			worker = s.Fields[s.Worker].Of(id)
		}
		before, known := last[worker]
		last[worker] = ts
		odd := order(0)
		if i > 0 && bytes.Compare(id, ids[i-1]) < 0 {
			odd = disorder
		}
		if known && ts < before {
			odd |= regression
		}
		if got, o, err := found.add(id, line); err != nil || got != ts || o != odd {
			t.Fatalf("%s: line %d, %x: timestamp %d, odd %d, %v; want %d, %d after %d", name, line, id, got, o, err, ts, odd, before)
		}
	}
	var got []string
	if err := found.repeated(t.Context(), func(line int64, id []byte) error {
		got = append(got, fmt.Sprintf("%d %x", line, id))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: of %d IDs, %d are repeated, want %d: %.200v, want %.200v", name, len(ids), len(got), len(want), got, want)
	}
	if found.generators != len(last) {
		t.Errorf("%s: %d generators, not %d", name, found.generators, len(last))
	}
}

// TestTape reads back what was written, across the limit of the memory.
func TestTape(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, memory := range []int64{0, 1, 1000, pieceSize, pieceSize + 1, 5 * pieceSize, 1 << 40} {
		random := rand.New(rand.NewPCG(uint64(memory), 1))
		tp := tape{memory: memory}
		var offs []int64
		var all [][]byte
		for range 2000 {
			p := make([]byte, random.IntN(400))
			for i := range p {
				p[i] = byte(random.Uint32())
			}
			off, err := tp.add(p)
			testkit.OK(t, err)
			offs, all = append(offs, off), append(all, p)
		}
		for _, i := range random.Perm(len(all)) {
			got := make([]byte, len(all[i]))
			if _, err := tp.ReadAt(got, offs[i]); err != nil || !bytes.Equal(got, all[i]) {
				t.Fatalf("memory %d: piece %d differs, %v", memory, i, err)
			}
		}
		tp.Close()
	}
}

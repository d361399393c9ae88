package sno_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

type sortKind struct {
	name string
	make func(r *rand.Rand, n int) []sno.ID
}

// sortData are IDs of all kinds, in all kinds of order.
var sortData = []sortKind{
	{"random", func(r *rand.Rand, n int) []sno.ID {
		return fill(n, func(int) sno.ID { return randomID(r) })
	}},
	{"equal", func(r *rand.Rand, n int) []sno.ID {
		id := randomID(r)
		return fill(n, func(int) sno.ID { return id })
	}},
	{"two values", func(r *rand.Rand, n int) []sno.ID {
		a, b := randomID(r), randomID(r)
		return fill(n, func(int) sno.ID {
			if r.IntN(2) == 0 {
				return a
			}
			return b
		})
	}},
	{"few values", func(r *rand.Rand, n int) []sno.ID {
		values := fill(40, func(int) sno.ID { return randomID(r) })
		return fill(n, func(int) sno.ID { return values[r.IntN(len(values))] })
	}},
	{"last bits", func(r *rand.Rand, n int) []sno.ID {
		prefix := randomID(r)
		return fill(n, func(int) sno.ID {
			prefix[9] = byte(r.IntN(8))
			return prefix
		})
	}},
	{"last bytes", func(r *rand.Rand, n int) []sno.ID {
		prefix := randomID(r)
		return fill(n, func(int) sno.ID {
			binary.BigEndian.PutUint16(prefix[8:], uint16(r.Uint32()))
			return prefix
		})
	}},
	// Each ID shares one more bit with the next: the most uneven levels of digits.
	{"staircase", func(r *rand.Rand, n int) []sno.ID {
		return fill(n, func(i int) (id sno.ID) {
			bit := r.IntN(80)
			id[bit/8] = 0x80 >> (bit % 8)
			return id
		})
	}},
	{"metabytes", func(r *rand.Rand, n int) []sno.ID {
		return fill(n, func(int) (id sno.ID) {
			id[5] = byte(r.IntN(256))
			return id
		})
	}},
	{"a generator's", generated},
	{"a fleet's", func(r *rand.Rand, n int) []sno.ID {
		return fill(n, func(i int) sno.ID {
			var p sno.Partition
			p.PutUint16(uint16(r.IntN(40)))
			at := genesis.Add(time.Duration(r.Int64N(int64(24 * time.Hour))))
			id, _ := sno.FromTime(at, byte(r.IntN(5)), p, uint16(r.IntN(30)))
			return id
		})
	}},
}

var genesis = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// generated returns the shuffled IDs of a generator that makes 5 million a second.
func generated(r *rand.Rand, n int) []sno.ID {
	ids := fill(n, func(i int) sno.ID {
		at := genesis.Add(time.Duration(i/20_000) * sno.TimeUnit)
		id, _ := sno.FromTime(at, byte(r.IntN(3)), sno.Partition{7, 9}, uint16(i%20_000))
		return id
	})
	r.Shuffle(n, func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

func fill(n int, f func(int) sno.ID) []sno.ID {
	ids := make([]sno.ID, n)
	for i := range ids {
		ids[i] = f(i)
	}
	return ids
}

func randomID(r *rand.Rand) (id sno.ID) {
	binary.BigEndian.PutUint64(id[:], r.Uint64())
	binary.BigEndian.PutUint16(id[8:], uint16(r.Uint64()))
	return id
}

func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, data := range sortData {
		t.Run(data.name, func(t *testing.T) {
			// Sizes at which digits become narrower, or places wider.
			sizes := []int{511, 512, 1<<14 - 1, 1 << 14, 1<<14 + 1, 1<<16 - 1, 1 << 16, 70_000}
			for n := 0; n <= 5000; n += 1 + n/40 {
				sizes = append(sizes, n)
			}
			if (data.name == "random" || data.name == "a generator's") && !testing.Short() {
				sizes = append(sizes, 1_000_000)
			}
			for _, n := range sizes {
				given := data.make(r, n)
				want := slices.Clone(given)
				slices.SortFunc(want, sno.ID.Compare)
				reversed := slices.Clone(want)
				slices.Reverse(reversed)
				almost := slices.Clone(want) // sorted except for one pair
				almostBack := slices.Clone(reversed)
				if n > 1 {
					almost[n-1], almost[n/2] = almost[n/2], almost[n-1]
					almostBack[n-1], almostBack[n/2] = almostBack[n/2], almostBack[n-1]
				}
				for order, ids := range map[string][]sno.ID{
					"as made": given, "sorted": slices.Clone(want), "reversed": reversed,
					"almost sorted": almost, "almost reversed": almostBack,
				} {
					// Memory around the slice shows a write outside it.
					guarded := append(append([]sno.ID{{1, 2}}, ids...), sno.ID{3, 4})
					sno.Sort(guarded[1 : n+1 : n+1])
					if !slices.Equal(guarded[1:n+1], want) {
						t.Fatalf("%d IDs, %s: not sorted", n, order)
					}
					if guarded[0] != (sno.ID{1, 2}) || guarded[n+1] != (sno.ID{3, 4}) {
						t.Fatalf("%d IDs, %s: wrote beside the slice", n, order)
					}
				}
			}
		})
	}
}

func FuzzSort(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint8(40))
	f.Fuzz(func(t *testing.T, data []byte, repeat uint8) {
		var ids []sno.ID
		for i := range int(repeat) + 1 { // enough IDs for a sort by digits
			for b := data; len(b) >= sno.SizeBinary; b = b[1:] {
				id := sno.ID(b[:sno.SizeBinary])
				id[i%sno.SizeBinary] ^= byte(i)
				ids = append(ids, id)
			}
		}
		want := slices.Clone(ids)
		slices.SortFunc(want, sno.ID.Compare)
		sno.Sort(ids)
		if !slices.Equal(ids, want) {
			t.Errorf("not sorted: %v", ids)
		}
		slices.Reverse(ids)
		sno.Sort(ids)
		if !slices.Equal(ids, want) {
			t.Errorf("reversed, not sorted: %v", ids)
		}
	})
}

func TestSortAllocates(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ids := generated(r, 32)
	testkit.Same(t, testing.AllocsPerRun(10, func() { sno.Sort(ids) }), 0)
	ids = generated(r, 5000)
	sno.Sort(ids)
	testkit.Same(t, testing.AllocsPerRun(10, func() { sno.Sort(ids) }), 0)
	testkit.Same(t, testing.AllocsPerRun(10, func() { slices.Reverse(ids); sno.Sort(ids) }), 0)
	testkit.Same(t, testing.AllocsPerRun(10, func() { ids[0], ids[4999] = ids[4999], ids[0]; sno.Sort(ids) }), 1)
}

// BenchmarkSort runs beside a sort by comparisons. The metric "ratio" is the time of the comparisons as a
// multiple.
func BenchmarkSort(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	inOrder := func(r *rand.Rand, n int) []sno.ID {
		ids := generated(r, n)
		sno.Sort(ids)
		return ids
	}
	reversed := func(r *rand.Rand, n int) []sno.ID {
		ids := inOrder(r, n)
		slices.Reverse(ids)
		return ids
	}
	for _, data := range append(slices.Clone(sortData), sortKind{"sorted", inOrder}, sortKind{"reversed", reversed}) {
		for _, n := range []int{100, 10_000, 1_000_000} {
			given := data.make(r, n)
			ids := make([]sno.ID, n)
			b.Run(fmt.Sprintf("%s/%d", data.name, n), func(b *testing.B) {
				var radix, compared time.Duration
				for b.Loop() {
					copy(ids, given)
					began := time.Now()
					sno.Sort(ids)
					radix += time.Since(began)
					copy(ids, given)
					began = time.Now()
					slices.SortFunc(ids, sno.ID.Compare)
					compared += time.Since(began)
				}
				b.ReportMetric(float64(compared)/float64(radix), "ratio")
				b.ReportMetric(float64(radix)/float64(b.N)/1e6, "radix-ms/op")
				b.ReportMetric(float64(compared)/float64(b.N)/1e6, "compared-ms/op")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

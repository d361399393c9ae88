package shape_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/shape"
)

// TestPut compares Put and Of with arithmetic on big integers, for all widths and places.
func TestPut(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := 8; size <= 20; size++ {
		for width := 0; width <= 56; width++ {
			for shift := 0; shift+width <= 8*size; shift++ {
				id := make([]byte, size)
				for i := range id {
					id[i] = byte(random.Uint32())
				}
				v := random.Uint64()
				f := shape.Field{Bits: width, Shift: shift}
				mask := new(big.Int).Lsh(big.NewInt(1<<width-1), uint(shift))
				want := new(big.Int).AndNot(new(big.Int).SetBytes(id), mask)
				want.Or(want, new(big.Int).Lsh(new(big.Int).SetUint64(v&(1<<width-1)), uint(shift)))
				f.Put(id, v)
				if new(big.Int).SetBytes(id).Cmp(want) != 0 || f.Of(id) != v&(1<<width-1) {
					t.Fatalf("%d bytes, %d bits above %d: %x, want %x", size, width, shift, id, want)
				}
			}
		}
	}
}

func TestBounds(t *testing.T) {
	s := shape.Shape{Epoch: 1000, Unit: 4 * time.Millisecond, Fields: shape.Fields(shape.Field{Bits: 9}, shape.Field{Bits: 13})}
	for at, want := range map[int64]struct {
		timestamp int64
		ok        bool
	}{
		999: {0, false}, 1000: {0, true}, 1003: {0, true}, 1004: {1, true}, 1000 + 4*512 - 1: {511, true}, 1000 + 4*512: {511, false},
	} {
		if got, ok := s.Timestamp(time.UnixMilli(at)); got != want.timestamp || ok != want.ok {
			t.Errorf("timestamp of %d: %d, %v", at, got, ok)
		}
	}
	if ts, ok := s.Timestamp(time.UnixMilli(1004).Add(-1)); ts != 0 || !ok {
		t.Errorf("the last nanosecond of a tick: %d, %v", ts, ok)
	}
	for ts, want := range map[int64][2]uint64{0: {1, 1<<13 - 1}, 1: {1 << 13, 1<<14 - 1}, 511: {511 << 13, 1<<22 - 1}} {
		first, last := new(big.Int).SetBytes(s.First(4, ts)), new(big.Int).SetBytes(s.Last(4, ts))
		if first.Uint64() != want[0] || last.Uint64() != want[1] {
			t.Errorf("timestamp %d: %x, %x", ts, first, last)
		}
	}
}

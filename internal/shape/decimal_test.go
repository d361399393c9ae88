package shape_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/shape"
)

// TestAppend compares Append with arithmetic on big integers, for all widths and places.
func TestAppend(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := 8; size <= 20; size++ {
		for width := 0; width <= min(128, 8*size); width++ {
			for shift := 0; shift+width <= 8*size; shift++ {
				id := make([]byte, size)
				fill := byte(random.IntN(3)) // ones, zeros or anything
				for i := range id {
					id[i] = [3]byte{0xff, 0, byte(random.Uint32())}[fill]
				}
				want := new(big.Int).Rsh(new(big.Int).SetBytes(id), uint(shift))
				want.And(want, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(width)), big.NewInt(1)))
				if got := string(shape.Field{Bits: width, Shift: shift}.Append([]byte("="), id)); got != "="+want.String() {
					t.Fatalf("%x, %d bits above %d: %s, want %v", id, width, shift, got, want)
				}
			}
		}
	}
	for _, v := range []string{"340282366920938463463374607431768211455", "100000000000000000000000000000000000000", "10000000000000000000", "99999999999999999999999999999999999999"} {
		n, _ := new(big.Int).SetString(v, 10)
		if got := string(shape.Field{Bits: 128}.Append(nil, n.FillBytes(make([]byte, 16)))); got != v {
			t.Errorf("%s, want %s", got, v)
		}
	}
}

package base32_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/form/base32"
)

// A run is the functions for IDs of one size.
type run struct {
	size, length int
	one          func(dst, id []byte) []byte // writes a single ID
}

var runs = []run{
	{10, base32.Len80, func(dst, id []byte) []byte { return base32.Hex.Append80(dst, (*[10]byte)(id)) }},
	{20, base32.Len160, func(dst, id []byte) []byte { return base32.Hex.Append160(dst, (*[20]byte)(id)) }},
}

// values returns n random values of the run's size.
func (r run) values(random *rand.Rand, n int) []byte {
	b := make([]byte, n*r.size)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

// texts writes values one by one.
func (r run) texts(values []byte, sep byte) []byte {
	var text []byte
	for v := values; len(v) >= r.size; v = v[r.size:] {
		text = append(r.one(text, v), sep)
	}
	return text
}

// A run writes and reads the same as the functions for single values, until the room ends or the
// first fault. Of values of 10 bytes it does an even number. A run writes nothing further.
func TestRuns(t *testing.T) {
	both(t, func(t *testing.T) {
		vectors := base32.SetVectors(true)
		base32.SetVectors(vectors)
		for _, r := range runs {
			random := rand.New(rand.NewPCG(11, 12))
			for n := 1; n < 40; n++ {
				values := r.values(random, n)
				sep := byte(random.Uint32())
				text := r.texts(values, sep)
				far := func(n int) int { // how many of n values a run does
					if !vectors {
						return 0
					}
					return n - n%(20/r.size)
				}
				most := n + 3 // what a run that reads may do
				if strings.IndexByte("0123456789ABCDEFGHIJKLMNOPQRSTUVabcdefghijklmnopqrstuv", sep) >= 0 {
					most = 0 // a separator of the alphabet
				}

				for _, room := range []int{len(text), len(text) + 1, len(text) - 1, random.IntN(len(text) + 1), 0} {
					dst := bytes.Repeat([]byte{'#'}, len(text)+8)
					want := far(min(n, room/(r.length+1)))
					if got := base32.Hex.EncodeRun(dst[:room], values[:r.size], n, sep); got != want {
						t.Fatalf("%d bytes: wrote %d of %d values to %d bytes, want %d", r.size, got, n, room, want)
					}
					end := want * (r.length + 1)
					if !bytes.Equal(dst[:end], text[:end]) || len(bytes.Trim(dst[end:], "#")) > 0 {
						t.Fatalf("%d bytes: wrote %q, want %q", r.size, dst, text[:end])
					}
				}

				at := random.IntN(len(text))
				for _, fault := range []struct {
					at   int
					with byte
				}{{0, text[0]}, {at, '!'}, {at, byte(random.Uint32())}, {at, text[at] ^ 0x20}} {
					given := bytes.Clone(text)
					given[fault.at] = fault.with
					for _, limit := range []int{n, n + 3, random.IntN(n + 1)} {
						given := given[:len(given)-random.IntN(2)*random.IntN(r.length)]
						want, wanted := 0, bytes.Repeat([]byte{old}, (n+3)*r.size)
						for want < min(limit, most) {
							from, to := want*(r.length+1), want*(r.length+1)+r.length
							if to >= len(given) || given[to] != sep || !base32.Hex.DecodeBytes(wanted[want*r.size:][:r.size], given[from:to]) {
								break
							}
							want++
						}
						want = far(want)
						copy(wanted[want*r.size:], bytes.Repeat([]byte{old}, len(wanted)))
						got := bytes.Repeat([]byte{old}, (n+3)*r.size)
						if done := base32.Hex.DecodeRun(got[:r.size], limit, given, sep); done != want || !bytes.Equal(got, wanted) {
							t.Fatalf("%d bytes: read %d of %q up to %d, want %d\n%x\n%x", r.size, done, given, limit, want, got, wanted)
						}
					}
				}
			}
		}
	})
}

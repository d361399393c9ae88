package base32_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A run is a pair of run functions, over values in a slice of bytes.
type run struct {
	name         string
	size, length int
	encode       func(dst, values []byte, sep byte) int
	decode       func(values []byte, n int, text []byte, sep byte) int
	one          func(dst, value []byte) []byte    // writes a single value
	read         func(value []byte, s []byte) bool // reads a single value
}

var runs = []run{
	{"63", 8, base32.Len63,
		func(dst, values []byte, sep byte) int {
			v := integers(values)
			return base32.Hex.EncodeRun63(dst, &v[0], len(values)/8, sep)
		},
		func(values []byte, n int, text []byte, sep byte) int {
			v := integers(values)
			done := base32.Hex.DecodeRun63(&v[0], n, text, sep)
			for i := range len(values) / 8 {
				binary.BigEndian.PutUint64(values[8*i:], uint64(v[i]))
			}
			return done
		},
		func(dst, value []byte) []byte { return base32.Hex.Append63(dst, binary.BigEndian.Uint64(value)) },
		func(value []byte, s []byte) bool {
			v := base32.Hex.Decode63Bytes(s)
			if v >= 0 {
				binary.BigEndian.PutUint64(value, uint64(v))
			}
			return v >= 0
		}},
	{"80", 10, base32.Len80,
		func(dst, values []byte, sep byte) int {
			return base32.Hex.EncodeRun80(dst, (*[10]byte)(values), len(values)/10, sep)
		},
		func(values []byte, n int, text []byte, sep byte) int {
			return base32.Hex.DecodeRun80((*[10]byte)(values), n, text, sep)
		},
		func(dst, value []byte) []byte { return base32.Hex.Append80(dst, (*[10]byte)(value)) },
		func(value []byte, s []byte) bool { return base32.Hex.Decode80Bytes((*[10]byte)(value), s) }},
	{"160", 20, base32.Len160,
		func(dst, values []byte, sep byte) int {
			return base32.Hex.EncodeRun160(dst, (*[20]byte)(values), len(values)/20, sep)
		},
		func(values []byte, n int, text []byte, sep byte) int {
			return base32.Hex.DecodeRun160((*[20]byte)(values), n, text, sep)
		},
		func(dst, value []byte) []byte { return base32.Hex.Append160(dst, (*[20]byte)(value)) },
		func(value []byte, s []byte) bool { return base32.Hex.Decode160Bytes((*[20]byte)(value), s) }},
}

// integers returns the integers in values, and an additional zero.
func integers(values []byte) []int64 {
	v := make([]int64, len(values)/8+1)
	for i := range len(values) / 8 {
		v[i] = int64(binary.BigEndian.Uint64(values[8*i:]))
	}
	return v
}

// values returns n random values of the run's size.
func (r run) values(random *rand.Rand, n int) []byte {
	b := make([]byte, n*r.size)
	for i := range b {
		b[i] = byte(random.Uint32())
		if r.size == 8 && i%8 == 0 {
			b[i] &= 0x7f
		}
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
// first fault. A run writes nothing further.
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
					return n
				}
				farBack := func(n int) int { // the same for a run that reads
					if strings.IndexByte("0123456789ABCDEFGHIJKLMNOPQRSTUVabcdefghijklmnopqrstuv", sep) >= 0 {
						return 0 // a separator of the alphabet
					}
					return far(n)
				}

				for _, room := range []int{len(text), len(text) + 1, len(text) - 1, random.IntN(len(text) + 1), 0} {
					dst := bytes.Repeat([]byte{'#'}, len(text)+8)
					want := far(min(n, room/(r.length+1)))
					if got := r.encode(dst[:room], values, sep); got != want {
						t.Fatalf("%s: wrote %d of %d values to %d bytes, want %d", r.name, got, n, room, want)
					}
					end := want * (r.length + 1)
					if !bytes.Equal(dst[:end], text[:end]) || len(bytes.Trim(dst[end:], "#")) > 0 {
						t.Fatalf("%s: wrote %q, want %q", r.name, dst, text[:end])
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
						for want < farBack(limit) {
							from, to := want*(r.length+1), want*(r.length+1)+r.length
							if to >= len(given) || given[to] != sep || !r.read(wanted[want*r.size:][:r.size], given[from:to]) {
								break
							}
							want++
						}
						got := bytes.Repeat([]byte{old}, (n+3)*r.size)
						if done := r.decode(got, limit, given, sep); done != want || !bytes.Equal(got, wanted) {
							t.Fatalf("%s: read %d of %q up to %d, want %d\n%x\n%x", r.name, done, given, limit, want, got, wanted)
						}
					}
				}
			}
		}
	})
}

// A run of integers stops at a negative integer.
func TestRunNegative(t *testing.T) {
	had := base32.SetVectors(true)
	defer base32.SetVectors(had)
	base32.SetVectors(had)
	for at := range 5 {
		v := []int64{1, 1<<63 - 1, 0, 7, 1}
		v[at] = -1 << (63 - at)
		want := at
		if !had {
			want = 0
		}
		dst := make([]byte, 14*len(v))
		testkit.Same(t, base32.Crockford.EncodeRun63(dst, &v[0], len(v), '\n'), want)
	}
}

package base32_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// both runs a test with tables, and with vectors if the processor has vectors.
func both(t *testing.T, f func(t *testing.T)) {
	had := base32.SetVectors(false)
	defer base32.SetVectors(had)
	t.Run("tables", f)
	base32.SetVectors(had)
	t.Run("vectors", func(t *testing.T) {
		if !had {
			t.Skip("no vectors: another processor than amd64 with AVX2, or a build without")
		}
		f(t)
	})
}

// bits returns the largest value of n bits.
func bits(n uint) *big.Int {
	v := new(big.Int).Lsh(big.NewInt(1), n)
	return v.Sub(v, big.NewInt(1))
}

// check63 compares the reading of a text with the model, as text and as bytes.
func check63(t *testing.T, s string) {
	t.Helper()
	want, r := testkit.Crockford64.Decode(s, bits(63))
	v := base32.Crockford.Decode63(s)
	if w := base32.Crockford.Decode63Bytes([]byte(s)); v != w {
		t.Errorf("%q: %d from a string, %d from bytes", s, v, w)
	}
	if r.Kind == testkit.Fine && v != want.Int64() || r.Kind != testkit.Fine && v != -1 {
		t.Errorf("%q = %d; want %v, %v", s, v, want, r)
	}
	if r.Kind == testkit.Character {
		checkForeign(t, base32.Crockford, s, r.Offset)
	}
}

func checkForeign(t *testing.T, c *base32.Codec, s string, want int) {
	t.Helper()
	if got, bytes := base32.Foreign(c, s), base32.Foreign(c, []byte(s)); got != want || bytes != want {
		t.Errorf("%q: the first foreign character is at %d, %d; want %d", s, got, bytes, want)
	}
}

// A guarded value has memory around it that must not change.
type guarded[T any] struct {
	before uint64
	v      T
	after  uint64
}

const (
	guard = 0x5a5a5a5a5a5a5a5a
	old   = 0xa5 // each byte of a value before a read
)

func (g *guarded[T]) broken() bool { return g.before != guard || g.after != guard }

// checkBytes compares the reading of a text by the codec of 10 and of 20 bytes with the model of
// either length, and writes what was read.
func checkBytes(t *testing.T, s string) {
	t.Helper()
	g10, g20 := guarded[[10]byte]{guard, [10]byte{old, 1, 9: old}, guard}, guarded[[20]byte]{guard, [20]byte{old, 1, 19: old}, guard}
	before10, before20 := g10.v, g20.v
	want, r := testkit.Base32Hex80.Decode(s, bits(80))
	switch ok := base32.Hex.Decode(g10.v[:], s); {
	case ok != (r.Kind == testkit.Fine):
		t.Errorf("%q, 10 bytes: %v; want %v", s, ok, r)
	case ok && new(big.Int).SetBytes(g10.v[:]).Cmp(want) != 0:
		t.Errorf("%q = %x; want %x", s, g10.v, want)
	case ok:
		checkWritten(t, base32.Hex.Append80([]byte("+"), &g10.v), testkit.Base32Hex80.Encode(want))
	case g10.v != before10:
		t.Errorf("%q was refused, and left %x", s, g10.v)
	}
	again := before10
	if ok := base32.Hex.DecodeBytes(again[:], []byte(s)); ok != (r.Kind == testkit.Fine) || again != g10.v {
		t.Errorf("%q: %x from a string, %x, %v from bytes", s, g10.v, again, ok)
	}
	if len(s) == base32.Len80 && r.Kind == testkit.Character {
		checkForeign(t, base32.Hex, s, r.Offset)
	}

	want, r = testkit.Base32Hex160.Decode(s, bits(160))
	switch ok := base32.Hex.Decode(g20.v[:], s); {
	case ok != (r.Kind == testkit.Fine):
		t.Errorf("%q, 20 bytes: %v; want %v", s, ok, r)
	case ok && new(big.Int).SetBytes(g20.v[:]).Cmp(want) != 0:
		t.Errorf("%q = %x; want %x", s, g20.v, want)
	case ok:
		checkWritten(t, base32.Hex.Append160([]byte("+"), &g20.v), testkit.Base32Hex160.Encode(want))
	case g20.v != before20:
		t.Errorf("%q was refused, and left %x", s, g20.v)
	}
	again20 := before20
	if ok := base32.Hex.DecodeBytes(again20[:], []byte(s)); ok != (r.Kind == testkit.Fine) || again20 != g20.v {
		t.Errorf("%q: %x from a string, %x, %v from bytes", s, g20.v, again20, ok)
	}
	if len(s) == base32.Len160 && r.Kind == testkit.Character {
		checkForeign(t, base32.Hex, s, r.Offset)
	}
	if g10.broken() || g20.broken() {
		t.Errorf("%q: wrote beside the value", s)
	}
}

func checkWritten(t *testing.T, got []byte, want string) {
	t.Helper()
	testkit.Same(t, string(got), "+"+want)
}

func TestIntegers(t *testing.T) {
	both(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(7, 8))
		for i := range 5000 {
			v := random.Uint64() >> (1 + i%63)
			want := testkit.Crockford64.Encode(new(big.Int).SetUint64(v))
			checkWritten(t, base32.Crockford.Append63([]byte("+"), v), want)
			check63(t, want)
			check63(t, strings.ToLower(want))
		}
		for _, s := range []string{"", "7ZZZZZZZZZZZZ", "8000000000000", "FZZZZZZZZZZZZ", "G000000000000", "ZZZZZZZZZZZZZ",
			"zzzzzzzzzzzzz", "000000000000", "00000000000000", "0123456789ABC0123456789ABC"} {
			check63(t, s)
		}
	})
}

func TestBytes(t *testing.T) {
	both(t, func(t *testing.T) {
		random := rand.New(rand.NewPCG(9, 10))
		for i := range 3000 {
			v := new(big.Int)
			for range 3 {
				v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(random.Uint64()))
			}
			v.Rsh(v, uint(32+i%160))
			long := testkit.Base32Hex160.Encode(v)
			checkBytes(t, long)
			checkBytes(t, long[16:])
			checkBytes(t, strings.ToLower(long[i%16:][:16]))
		}
		for n := range 100 {
			checkBytes(t, strings.Repeat("7", n))
		}
	})
}

// Every byte at every place.
func TestAlphabets(t *testing.T) {
	both(t, func(t *testing.T) {
		for c := range 256 {
			for at := range base32.Len63 {
				s := []byte("0123456789ABC")
				s[at] = byte(c)
				check63(t, string(s))
				s[12] = '!' // the first foreign character is the one to report
				check63(t, string(s))
			}
			for at := range base32.Len160 {
				s := []byte("0123456789ABCDEFGHIJKLMNOPQRSTUV")
				s[at] = byte(c)
				checkBytes(t, string(s))
				checkBytes(t, string(s[at/2:at/2+16]))
			}
		}
	})
	for _, a := range []struct {
		codec *base32.Codec
		model testkit.Encoding
	}{{base32.Crockford, testkit.Crockford64}, {base32.Hex, testkit.Base32Hex160}} {
		for c := range 256 {
			one := a.model
			one.Min, one.Max = 1, 1
			want, r := one.Decode(string([]byte{byte(c)}), bits(5))
			v, ok := a.codec.Digit(byte(c))
			if ok != (r.Kind == testkit.Fine) || ok && uint64(v) != want.Uint64() {
				t.Errorf("digit %#x: %d, %v; want %v", c, v, ok, want)
			}
		}
	}
}

// A codec without fold reads only the letters of its alphabet's case.
func TestNoFold(t *testing.T) {
	const alphabet = "23456789abcdefghijklmnopqrstuvwx"
	c := base32.NewCodec(alphabet, false)
	testkit.Same(t, base32.Foreign(c, "2a9xX"), 4)
	testkit.Same(t, base32.Foreign(c, "2a9x"), -1)
	both(t, func(t *testing.T) {
		for char := range 256 {
			for at := range base32.Len80 {
				s := []byte("9xa2b3c4d5e6f7g8")
				s[at] = byte(char)
				var v [10]byte
				if ok := c.Decode(v[:], string(s)); ok != (strings.IndexByte(alphabet, byte(char)) >= 0) {
					t.Fatalf("%q: %v", s, ok)
				} else if ok {
					checkWritten(t, c.Append80([]byte("+"), &v), string(s))
				}
			}
		}
	})
}

// NewCodec panics on alphabets that its tables cannot hold.
func TestOtherAlphabets(t *testing.T) {
	for _, digits := range []string{"!123456789ABCDEFGHIJKLMNOPQRSTUV", "aAbBcCdDeEfFgGhHiIjJkKlLmMnNoOpP", "0123456789ABCDEFGHIJKLMNOPQRSTUé"[:32]} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a codec of %q", digits)
				}
			}()
			base32.NewCodec(digits, false)
		}()
	}
}

// Appending keeps the contents of dst, and moves dst only if it has no room.
func TestAppend(t *testing.T) {
	both(t, func(t *testing.T) {
		for room := range 80 {
			for have := range 3 {
				buffer := []byte(strings.Repeat("#", 100))
				dst := buffer[:have:min(have+room, 100)]
				for name, f := range map[string]struct {
					length int
					append func([]byte) []byte
				}{
					"63":  {base32.Len63, func(b []byte) []byte { return base32.Hex.Append63(b, 1<<63-1) }},
					"80":  {base32.Len80, func(b []byte) []byte { return base32.Hex.Append80(b, &[10]byte{9: 1}) }},
					"160": {base32.Len160, func(b []byte) []byte { return base32.Hex.Append160(b, &[20]byte{19: 1}) }},
				} {
					got := f.append(dst)
					if len(got) != have+f.length || string(got[:have]) != "##"[:have] || string(got[have:]) != string(f.append(nil)) {
						t.Fatalf("%s to %d with room for %d: %q", name, have, room, got)
					}
					if moved := &got[0] != &buffer[0]; moved != (room < f.length) {
						t.Errorf("%s to %d with room for %d: moved: %v", name, have, room, moved)
					}
					end := have
					if room >= f.length {
						end += f.length
					}
					if strings.Trim(string(buffer[end:]), "#") != "" {
						t.Errorf("%s to %d with room for %d wrote past its end: %q", name, have, room, buffer)
					}
					copy(buffer, strings.Repeat("#", 100))
				}
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"7ZZZZZZZZZZZZ", "FZZZZZZZZZZZZ", "ILOU000000000", "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", "05ttup1hncpna1qh", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		both(t, func(t *testing.T) {
			check63(t, s)
			checkBytes(t, s)
		})
	})
}

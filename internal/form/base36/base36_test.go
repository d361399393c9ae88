package base36_test

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/form/base36"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// check compares the reading of s with the model, as text and as bytes.
func check(t *testing.T, s string) {
	t.Helper()
	if len(s) == 0 || len(s) > base36.Len {
		return // callers check the length
	}
	want, r := testkit.Base36.Decode(s, big.NewInt(1<<63-1))
	v, bad, ok := base36.Parse(s)
	w, bad2, ok2 := base36.Parse([]byte(s))
	if v != w || bad != bad2 || ok != ok2 {
		t.Errorf("%q: %d, %d, %v from a string, %d, %d, %v from bytes", s, v, bad, ok, w, bad2, ok2)
	}
	switch r.Kind {
	case testkit.Fine:
		if bad != -1 || !ok || v != want.Uint64() {
			t.Errorf("%q = %d, %d, %v; want %v", s, v, bad, ok, want)
		}
	default:
		if bad != r.Offset || ok || v != 0 {
			t.Errorf("%q = %d, %d, %v; want %v", s, v, bad, ok, r)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	for i := range 5000 {
		v := random.Uint64() >> (1 + i%63)
		short := testkit.Base36.Encode(new(big.Int).SetUint64(v))
		want := strings.Repeat("0", base36.Len-len(short)) + short
		if got := base36.Append([]byte("-"), v); string(got) != "-"+want {
			t.Fatalf("%d is %s, want -%s", v, got, want)
		}
		check(t, want)
		check(t, short)
		check(t, strings.ToUpper(want))
	}
}

func TestEdges(t *testing.T) {
	for _, s := range []string{"1y2p0ij32e8e7", "1y2p0ij32e8e8", "1Y2P0IJ32E8E8", "1y2p0ij32e8dz", "1y2p0ij32e8ez", "zzzzzzzzzzzzz", "zzzzzzzzzzzz", "2000000000000"} {
		check(t, s)
	}
	for c := range 256 {
		for at := range base36.Len {
			s := []byte("0123456789abc")
			s[at] = byte(c)
			check(t, string(s))
			s = []byte("zzzzzzzzzzzzz")
			s[at] = byte(c)
			check(t, string(s))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"0", "1y2p0ij32e8e7", "1y2p0ij32e8e8", "Zz-", "é"} {
		f.Add(s)
	}
	f.Fuzz(check)
}

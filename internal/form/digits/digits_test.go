package digits_test

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/testing/testkit"
)

func checkDecimal(t *testing.T, s string) {
	t.Helper()
	want, r := testkit.Decimal(1000).Decode(s, new(big.Int).SetUint64(1<<64-1))
	if len(s) == 0 || len(s) > 1000 {
		return // callers check the length
	}
	v, bad, ok := digits.Decimal(s)
	w, bad2, ok2 := digits.Decimal([]byte(s))
	if v != w && ok || bad != bad2 || ok != ok2 {
		t.Errorf("%q: %d, %d, %v from a string, %d, %d, %v from bytes", s, v, bad, ok, w, bad2, ok2)
	}
	if bad != r.Offset || ok != (r.Kind == testkit.Fine) || ok && v != want.Uint64() {
		t.Errorf("%q = %d, %d, %v; want %v, %v", s, v, bad, ok, want, r)
	}
}

func checkHex(t *testing.T, s string) {
	t.Helper()
	dst := make([]byte, len(s)/2)
	s = s[:2*len(dst)]
	if s == "" {
		return
	}
	want, r := testkit.Hexadecimal(len(s)).Decode(s, new(big.Int).Lsh(big.NewInt(1), uint(8*len(dst))))
	if bad := digits.Hex(dst, s); bad != r.Offset {
		t.Errorf("%q: bad is %d, want %v", s, bad, r)
	} else if bad < 0 {
		testkit.Same(t, new(big.Int).SetBytes(dst).Cmp(want), 0)
		if got := digits.AppendHex([]byte("0x"), dst); string(got) != "0x"+hex.EncodeToString(dst) {
			t.Errorf("%x is %s", dst, got)
		}
	}
}

func TestDecimal(t *testing.T) {
	for _, s := range []string{
		"0", "00", "9", "18446744073709551615", "18446744073709551616", "18446744073709551619", "18446744073709551620",
		"184467440737095516150", "99999999999999999999", "36893488147419103232", "999999999999999999999999x", "00000000000000000000000000001",
		strings.Repeat("9", 1000),
	} {
		checkDecimal(t, s)
	}
	for c := range 256 {
		for at := range 20 {
			s := []byte("18446744073709551615")
			s[at] = byte(c)
			checkDecimal(t, string(s))
		}
	}
}

func TestHex(t *testing.T) {
	for c := range 256 {
		for at := range 16 {
			s := []byte("0123456789abcdEF")
			s[at] = byte(c)
			checkHex(t, string(s))
			s[15] = '-'
			checkHex(t, string(s))
		}
	}
}

func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "18446744073709551615", "18446744073709551616", "-1", "1_0"} {
		f.Add(s)
	}
	f.Fuzz(checkDecimal)
}

func FuzzHex(f *testing.F) {
	for _, s := range []string{"00", "0x", "deadBEEF", "zz"} {
		f.Add(s)
	}
	f.Fuzz(checkHex)
}

package sno_test

import (
	"math/big"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

func FuzzParse(f *testing.F)    { suite.FuzzForm(f, "text") }
func FuzzParseHex(f *testing.F) { suite.FuzzForm(f, "hex") }
func FuzzBinary(f *testing.F)   { suite.FuzzForm(f, "binary") }
func FuzzJSON(f *testing.F)     { suite.FuzzJSON(f) }
func FuzzOrder(f *testing.F)    { suite.FuzzOrder(f, false) }

// FuzzEncoded compares each field read from a text with the model, also if the rest of the text is invalid.
func FuzzEncoded(f *testing.F) {
	for _, s := range []string{"", "2222222222222222", "xxxxxxxxxxxxxxxx", "cufsekaqqudbobiw", "cufsekaqqudbobiW", "0123456789abcdef", "yyyyyyyyyyyyyyyy", "\xff2222222222222\x00"} {
		f.Add(s)
	}
	f.Fuzz(encoded)
}

func encoded(t *testing.T, s string) {
	part := func(name string, from, to int, read func() (int64, error), want func(*big.Int) int64) {
		t.Helper()
		got, err := read()
		if len(s) != sno.SizeEncoded {
			wantRefusal(t, name, err, len(s), -1)
			return
		}
		text := testkit.Encoding{Alphabet: alphabet, Min: 1, Max: sno.SizeEncoded}
		v, refusal := text.Decode(s[from:to], testkit.Sno.Max())
		switch {
		case refusal.Kind != testkit.Fine:
			wantRefusal(t, name, err, len(s), from+refusal.Offset)
		case err != nil || got != want(v):
			t.Errorf("%s(%q) = %d, %v; want %d", name, s, got, err, want(v))
		}
	}
	part("EncodedTime", 0, 8, func() (int64, error) {
		when, err := sno.EncodedTime(s)
		return when.UnixNano(), err
	}, func(v *big.Int) int64 { return (sno.Epoch*1000 + v.Int64()/2*4) * 1e6 })
	part("EncodedMeta", 8, 10, func() (int64, error) {
		meta, err := sno.EncodedMeta([]byte(s))
		return int64(meta), err
	}, func(v *big.Int) int64 { return v.Int64() / 4 })
	part("EncodedPartition", 9, 13, func() (int64, error) {
		p, err := sno.EncodedPartition(s)
		return int64(p.AsUint16()), err
	}, func(v *big.Int) int64 { return v.Int64() / 2 % 65536 })
	part("EncodedSequence", 12, 16, func() (int64, error) {
		sequence, err := sno.EncodedSequence([]byte(s))
		return int64(sequence), err
	}, func(v *big.Int) int64 { return v.Int64() % 65536 })
}

// FuzzTimes builds IDs of any time, in range or not.
func FuzzTimes(f *testing.F) {
	f.Add(int64(0), byte(0), uint32(0))
	f.Add(int64(1<<62), byte(255), uint32(1<<32-1))
	f.Add(int64(sno.Epoch), byte(255), uint32(1))
	f.Add(int64(2e9), byte(3), uint32(0x04050607))
	f.Fuzz(func(t *testing.T, seconds int64, meta byte, rest uint32) {
		when := time.Unix(seconds, int64(meta)*1e6)
		first, last := sno.First(when), sno.Last(when)
		inRange := when.Unix() >= sno.Epoch && when.Before(at(sno.MaxTimestamp+1))
		built, err := sno.FromTime(when, meta, sno.Partition{byte(rest >> 24), byte(rest >> 16)}, uint16(rest)|1)
		if (err == nil) != inRange || err == nil && (first.Compare(built) > 0 || last.Compare(built) < 0) {
			t.Errorf("FromTime(%v) = %v, %v, within %v and %v", when, built, err, first, last)
		}
		if first.Time() != last.Time() || first.Compare(last) >= 0 || inRange && (first.Time().After(when) || when.Sub(first.Time()) >= sno.TimeUnit) {
			t.Errorf("First and Last of %v are of %v and %v", when, first.Time(), last.Time())
		}
	})
}

package sno_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

const alphabet = "23456789abcdefghijklmnopqrstuvwx"

func TestVectors(t *testing.T) {
	type vector struct {
		String    string `json:"string"`
		Hex       string `json:"hex"`
		UnixNano  int64  `json:"unix_ns,string"`
		TickTock  int    `json:"tick_tock"`
		Meta      byte   `json:"meta"`
		Partition uint16 `json:"partition"`
		Sequence  uint16 `json:"sequence"`
	}
	if zero := sno.Zero(); zero != (sno.ID{}) || !zero.IsZero() {
		t.Errorf("the zero ID is %v", zero)
	}
	for _, v := range testkit.Vectors[vector](t, "sno") {
		raw, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		id := suite.Forms(t, new(big.Int).SetBytes(raw), v.String, v.Hex, "")
		if id.Hex() != v.Hex || id.Timestamp() != v.UnixNano || id.TickTock() != v.TickTock || id.Meta() != v.Meta ||
			id.Partition().AsUint16() != v.Partition || id.Sequence() != v.Sequence {
			t.Errorf("%s: %s, time %d, tick-tock %d, meta %d, partition %d, sequence %d", v.String,
				id.Hex(), id.Timestamp(), id.TickTock(), id.Meta(), id.Partition().AsUint16(), id.Sequence())
		}
		when := time.Unix(0, v.UnixNano).UTC()
		if got := id.Time(); got != when {
			t.Errorf("%s: time %v, want %v", v.String, got, when)
		}
		wantEncoded(t, v.String, id)

		var p sno.Partition
		p.PutUint16(v.Partition)
		built := id
		built[4] &^= 1 // FromTime leaves the tick-tock bit clear
		for _, late := range []time.Duration{0, 1, sno.TimeUnit - 1} {
			if got, err := sno.FromTime(when.Add(late), v.Meta, p, v.Sequence); built.IsZero() {
				testkit.IsConfigError(t, err, "sno", "sequence", "0 is not 1 or more")
			} else if err != nil || got != built {
				t.Errorf("FromTime = %v, %v; want %v", got, err, built)
			}
			first, last := sno.First(when.Add(late)), sno.Last(when.Add(late))
			if first.Compare(id) > 0 && !id.IsZero() || last.Compare(id) < 0 || first.Time() != when || last.Time() != when {
				t.Errorf("%v is not within %v and %v", id, first, last)
			}
		}
	}
}

// wantEncoded compares each field read from the text with the field of the ID.
func wantEncoded(t testing.TB, text string, id sno.ID) {
	t.Helper()
	testkit.Call(sno.EncodedTime(text)).Gives(t, id.Time())
	testkit.Call(sno.EncodedMeta([]byte(text))).Gives(t, id.Meta())
	testkit.Call(sno.EncodedPartition(text)).Gives(t, id.Partition())
	testkit.Call(sno.EncodedSequence(text)).Gives(t, id.Sequence())
}

// marked is the value of a variable before reading.
var marked = sno.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}

func wantRefusal(t testing.TB, call string, err error, size, offset int) {
	t.Helper()
	var bySize *sno.InvalidDataSizeError
	var byCharacter *sno.ParseError
	switch {
	case err == nil:
		t.Errorf("%s gave no error", call)
	case size != sno.SizeEncoded:
		if !errors.As(err, &bySize) || bySize.Size != size || !errors.Is(err, iderr.ErrLength) {
			t.Errorf("%s: %v, want an InvalidDataSizeError of %d", call, err, size)
		}
	case !errors.As(err, &byCharacter) || byCharacter.Offset != offset || byCharacter.Format != "sno" ||
		!errors.Is(err, iderr.ErrCharacter):
		t.Errorf("%s: %v, want a ParseError of offset %d", call, err, offset)
	}
}

func second[T any](_ T, err error) error { return err }

// Any byte at any offset of a text.
func TestRefusesCharacters(t *testing.T) {
	const text = "cufsekaqqudbobiw"
	for at := range len(text) {
		for c := range 256 {
			suite.Check(t, "text", text[:at]+string([]byte{byte(c)})+text[at+1:])
		}
	}
}

func TestEncodedRefuses(t *testing.T) {
	const text = "cufsekaqqudbobiw"
	parts := []struct {
		name     string
		from, to int
		read     func(string) error
	}{
		{"EncodedTime", 0, 8, func(s string) error { return second(sno.EncodedTime(s)) }},
		{"EncodedMeta", 8, 10, func(s string) error { return second(sno.EncodedMeta(s)) }},
		{"EncodedPartition", 9, 13, func(s string) error { return second(sno.EncodedPartition([]byte(s))) }},
		{"EncodedSequence", 12, 16, func(s string) error { return second(sno.EncodedSequence(s)) }},
	}
	for _, p := range parts {
		for n := range 41 {
			if n != sno.SizeEncoded {
				wantRefusal(t, p.name, p.read(strings.Repeat("2", n)), n, -1)
			}
		}
		for at := range len(text) {
			for _, c := range "01yzA\x00" {
				err := p.read(text[:at] + string(c) + text[at+1:])
				if p.from <= at && at < p.to {
					wantRefusal(t, p.name, err, len(text), at)
				} else if err != nil {
					t.Errorf("%s looked at offset %d: %v", p.name, at, err)
				}
			}
		}
	}
}

func TestRange(t *testing.T) {
	end := at(sno.MaxTimestamp)
	for _, c := range []struct {
		when time.Time
		unit int64
		fits bool
	}{
		{epoch, 0, true},
		{epoch.Add(4*time.Millisecond - 1), 0, true},
		{epoch.Add(4 * time.Millisecond), 1, true},
		{end, sno.MaxTimestamp, true},
		{end.Add(4*time.Millisecond - 1), sno.MaxTimestamp, true},
		{end.Add(4 * time.Millisecond), sno.MaxTimestamp, false},
		{epoch.Add(-1), 0, false},
		{time.Time{}, 0, false},
		{time.Unix(1<<62, 0), sno.MaxTimestamp, false},
		{time.Unix(-1<<62, 0), 0, false},
		{time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)), at2026 - 900_000, true},
	} {
		id, err := sno.FromTime(c.when, 9, sno.Partition{1, 2}, 3)
		var out *sno.TimeError
		switch {
		case c.fits && (err != nil || unit(id) != c.unit || id.Meta() != 9 || id.Partition() != sno.Partition{1, 2} ||
			id.Sequence() != 3 || id.TickTock() != 0):
			t.Errorf("FromTime(%v) = %x, %v", c.when, id, err)
		case !c.fits && (!errors.As(err, &out) || !errors.Is(err, sno.ErrTimeRange) || !id.IsZero() ||
			out.First != epoch || out.Last != end || out.Time != c.when):
			t.Errorf("FromTime(%v) = %x, %v", c.when, id, err)
		}
		first, last := sno.First(c.when), sno.Last(c.when)
		if unit(first) != c.unit || unit(last) != c.unit {
			t.Errorf("%v: First and Last are of the units %d and %d", c.when, unit(first), unit(last))
		}
		var sequence uint16
		if c.unit == 0 {
			sequence = 1
		}
		if first != pack(c.unit, 0, 0, 0, sequence) || last != pack(c.unit, 1, 255, 65535, 65535) {
			t.Errorf("%v: First is %x, Last is %x", c.when, first, last)
		}
	}
	if sno.First(time.Time{}).String() != "2222222222222223" || sno.Last(time.Unix(1<<40, 0)).String() != "xxxxxxxxxxxxxxxx" {
		t.Error("First and Last of times out of range")
	}
}

const at2026 = (1767225600 - sno.Epoch) * 250

// pack puts an ID together, bit by bit.
func pack(unit int64, tickTock int, meta byte, partition, sequence uint16) (id sno.ID) {
	bits := fmt.Sprintf("%039b%b%08b%016b%016b", unit, tickTock, meta, partition, sequence)
	for i, c := range bits {
		id[i/8] |= byte(c-'0') << (7 - i%8)
	}
	return id
}

// A value that is not a string has a wrong size. If the size is right, it has a foreign character.
func TestJSONErrors(t *testing.T) {
	for bad, offset := range map[string]int{
		"": -1, "7": -1, "true": -1, "false": -1, "{}": -1, "[]": -1, "nul": -1, "-1.5e7": -1, "[1,2,3,4]": -1, "1234567890": -1,
		strings.Repeat("1", 15): -1, strings.Repeat("1", 17): -1, strings.Repeat("1", 1<<16): -1,
		strings.Repeat("1", 16): 0, strings.Repeat("1", 18): 0, "cufsekaqqudbobiw": 0, "cufsekaqqudbobiw23": 0, `{"a":"bcdefghijk"}`: 0,
	} {
		read := marked
		err := read.UnmarshalJSON([]byte(bad))
		if offset < 0 {
			wantRefusal(t, "UnmarshalJSON of "+bad[:min(len(bad), 20)], err, len(bad), -1)
		} else {
			wantRefusal(t, "UnmarshalJSON of "+bad, err, sno.SizeEncoded, offset)
		}
		if read != marked {
			t.Errorf("%q is read as %v", bad, read)
		}
	}
	for _, bad := range []string{"", `"`, `"cufsekaqqudbobiw`, `cufsekaqqudbobiw"`, `nul`, `"cufsekaqqudbobi\"`, `\`} {
		if read := marked; read.UnmarshalJSON([]byte(bad)) == nil || read != marked {
			t.Errorf("%q is read as %v", bad, read)
		}
	}
}

// A jsonPackage is one of the versions of encoding/json.
type jsonPackage struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

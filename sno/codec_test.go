package sno_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
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
	for _, v := range testkit.Load[vector](t, "vectors.json") {
		raw, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatal(err)
		}
		id := sno.ID(raw)
		if got := id.String(); got != v.String {
			t.Errorf("%s is written as %s, want %s", v.Hex, got, v.String)
		}
		for _, r := range readers {
			testkit.Call(r.read(v.String)).Gives(t, id)
		}
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
		testkit.Call(sno.ParseHex(strings.ToUpper(v.Hex))).Gives(t, id)
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

// readers are all ways to read a text. Beside an error they return the zero ID, also for methods that leave
// the ID unchanged.
var readers = []struct {
	name string
	read func(text string) (sno.ID, error)
}{
	{"Parse", sno.Parse},
	{"FromEncodedString", sno.FromEncodedString},
	{"FromEncodedBytes", func(s string) (sno.ID, error) { return sno.FromEncodedBytes([]byte(s)) }},
	{"MustParse", func(s string) (id sno.ID, err error) {
		defer func() {
			if p := recover(); p != nil {
				err = p.(error)
			}
		}()
		return sno.MustParse(s), nil
	}},
	{"UnmarshalText", func(s string) (sno.ID, error) {
		return into(func(id *sno.ID) error { return id.UnmarshalText([]byte(s)) })
	}},
	{"UnmarshalJSON", func(s string) (sno.ID, error) {
		quoted, err := json.Marshal(s)
		var back string
		if err != nil || json.Unmarshal(quoted, &back) != nil || back != s {
			quoted = []byte(`"` + s + `"`) // JSON has no such string
			if strings.ContainsAny(s, `\"`) {
				return sno.Parse(s)
			}
		}
		return into(func(id *sno.ID) error { return id.UnmarshalJSON(quoted) })
	}},
	{"Scan", func(s string) (sno.ID, error) {
		if s == "" { // Scan reads the zero ID
			return sno.Parse(s)
		}
		id := marked
		err := id.Scan(s)
		return id, err
	}},
	{"FromUUID", func(s string) (sno.ID, error) {
		if len(s) != sno.SizeEncoded {
			return sno.Parse(s)
		}
		return sno.FromUUID([16]byte([]byte(s)))
	}},
	{"flag.TextVar", func(s string) (sno.ID, error) {
		return into(func(id *sno.ID) error {
			var set flag.FlagSet
			set.TextVar(id, "id", *id, "")
			return set.Lookup("id").Value.Set(s)
		})
	}},
}

// marked is the value of a variable before reading.
var marked = sno.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}

// into calls a method that leaves the ID unchanged on an error.
func into(read func(*sno.ID) error) (sno.ID, error) {
	id := marked
	err := read(&id)
	if err != nil && id == marked {
		id = sno.Zero()
	}
	return id, err
}

// wantRefused checks that all readers refuse the text, by its size or with the offset of the foreign
// character.
func wantRefused(t testing.TB, text string, offset int) {
	t.Helper()
	for _, r := range readers {
		id, err := r.read(text)
		if !id.IsZero() {
			t.Errorf("%s(%q) gave the ID %x beside the error %v", r.name, text, id, err)
		}
		wantRefusal(t, fmt.Sprintf("%s(%q)", r.name, text), err, len(text), offset)
	}
}

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

func TestRefusesLengths(t *testing.T) {
	for n := range 41 {
		if n == sno.SizeEncoded {
			continue
		}
		for _, c := range []string{"2", "x", "\x00", "Z"} {
			wantRefused(t, strings.Repeat(c, n), -1)
		}
		id := marked
		data := bytes.Repeat([]byte{7}, n)
		for name, err := range map[string]error{
			"FromBinaryBytes": second(sno.FromBinaryBytes(data)), "UnmarshalBinary": id.UnmarshalBinary(data),
			"ParseHex": second(sno.ParseHex(strings.Repeat("7", n))),
		} {
			if length := map[bool]int{true: 20, false: 10}[name == "ParseHex"]; n == length {
				if err != nil {
					t.Errorf("%s of %d: %v", name, n, err)
				}
				continue
			}
			wantRefusal(t, name, err, n, -1)
		}
		if n != sno.SizeBinary && id != marked {
			t.Errorf("UnmarshalBinary of %d bytes changed the ID", n)
		}
	}
	wantRefused(t, strings.Repeat("2", 1<<20), -1)
}

func second[T any](_ T, err error) error { return err }

func TestRefusesCharacters(t *testing.T) {
	const text = "cufsekaqqudbobiw"
	for at := range len(text) {
		for c := range 256 {
			bad := text[:at] + string([]byte{byte(c)}) + text[at+1:]
			if strings.IndexByte(alphabet, byte(c)) >= 0 {
				if id, err := sno.Parse(bad); err != nil || id.String() != bad {
					t.Errorf("Parse(%q) = %v, %v", bad, id, err)
				}
				continue
			}
			wantRefused(t, bad, at)
		}
	}
	for _, c := range []struct {
		text   string
		offset int
	}{
		{"cufsekaqqudbobiW", 15},
		{"CUFSEKAQQUDBOBIW", 0},
		{"cufsekaqqudböiw", 12},             // a character of two bytes
		{"cufsekaqqudb€w", 12},              // of three
		{"\U0001f600cufsekaqqudb", 0},       // of four
		{"cufsekaqqudbob\xff\xfe", 14},      // invalid UTF-8
		{"0123456789abcdef", 0},             // base32hex has these
		{"23456789abcdefyz", 14},            // the first two after the alphabet
		{"2345678 abcdefgh", 7},             //
		{"-345678aabcdefgh", 0},             //
		{"cufsekaqqudbobi\n", 15},           //
		{"cufsekaq\x00\x00\x00\x00iwab", 8}, //
		{"０cufsekaqqudbo"[:16], 0},          // a full-width digit
	} {
		testkit.Same(t, len(c.text), sno.SizeEncoded)
		wantRefused(t, c.text, c.offset)
	}
	_, err := sno.ParseHex("0123456789abcdefgh12")
	var e *sno.ParseError
	if !errors.As(err, &e) || e.Offset != 16 {
		t.Errorf("ParseHex: %v", err)
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

func TestErrorTexts(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{second(sno.Parse("abc")), "3: a text has 16 characters, the binary form 10 bytes"},
		{new(sno.ID).Scan([]byte("cufsekaqqudbobiwx")), "17: a text has 16 characters, the binary form 10 bytes"},
		{second(sno.FromBinaryBytes(make([]byte, 16))), "16, that of a text: the binary form has 10 bytes"},
		{second(sno.ParseHex("0123456789abcdef")), "16, that of a text: the binary form has 10 bytes, which are 20 hexadecimal digits"},
		{second(sno.Parse("cufsekaqqudbobiW")), "offset 15"},
		{new(sno.ID).Scan(7), "int"},
		{second(sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMin: 3, SequenceMax: 5}, nil)), "min 3, max 5"},
		{&sno.PartitionPoolExhaustedError{}, "65535"},
	} {
		if c.err == nil {
			t.Errorf("no error, want sno: …%s", c.want)
		} else if text := c.err.Error(); !strings.HasPrefix(text, "sno: ") || !strings.Contains(text, c.want) {
			t.Errorf("%q, want sno: …%s", text, c.want)
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

func TestJSON(t *testing.T) {
	id := sno.MustParse("cufsekaqqudbobiw")
	type object struct {
		ID   sno.ID
		Zero sno.ID
		Omit sno.ID  `json:",omitzero"`
		Nil  *sno.ID `json:",omitempty"`
		Keys map[sno.ID]int
		List []sno.ID
	}
	const text = `{"ID":"cufsekaqqudbobiw","Zero":null,"Keys":{"2222222222222222":1,"cufsekaqqudbobiw":2},` +
		`"List":["cufsekaqqudbobiw",null]}`
	value := object{ID: id, Keys: map[sno.ID]int{sno.Zero(): 1, id: 2}, List: []sno.ID{id, {}}}
	for _, j := range jsonPackages {
		got, err := j.marshal(value)
		if err != nil || string(got) != text {
			t.Errorf("%s: %s, %v", j.name, got, err)
		}
		back := object{Zero: id, List: []sno.ID{{}, id}}
		if err := j.unmarshal([]byte(text), &back); err != nil || back.ID != id || back.Zero != sno.Zero() ||
			len(back.Keys) != 2 || back.Keys[id] != 2 || back.Keys[sno.Zero()] != 1 ||
			!slices.Equal(back.List, value.List) || back.Nil != nil {
			t.Errorf("%s: %+v, %v", j.name, back, err)
		}
		for _, bad := range []string{`7`, `true`, `{}`, `[]`, `"cufsekaqqudbobi"`, `""`, `"cufsekaqqudbobiW"`, `"null"`, `[1,2,3,4,5,6,7,8,9,10]`} {
			read := marked
			err := j.unmarshal([]byte(bad), &read)
			if err == nil || read != marked {
				t.Errorf("%s: %s is read as %v, %v", j.name, bad, read, err)
			}
			var size *sno.InvalidDataSizeError
			if bad[0] != '"' && (!errors.As(err, &size) || size.Size != len(bad)) {
				t.Errorf("%s: %s: %v", j.name, bad, err)
			}
		}
		var read sno.ID
		if err := j.unmarshal([]byte(`"\u0063ufsekaqqudbob\u0069w"`), &read); err != nil || read != id {
			t.Errorf("%s: with escapes: %v, %v", j.name, read, err)
		}
		var keys map[sno.ID]int
		if err := j.unmarshal([]byte(`{"cufsekaqqudbobiW":1}`), &keys); err == nil {
			t.Errorf("%s: a key of foreign characters is read as %v", j.name, keys)
		}
	}
	if b, err := id.MarshalJSON(); string(b) != `"cufsekaqqudbobiw"` || err != nil {
		t.Errorf("MarshalJSON = %s, %v", b, err)
	}
	if b, err := sno.Zero().MarshalJSON(); string(b) != `null` || err != nil {
		t.Errorf("MarshalJSON of zero = %s, %v", b, err)
	}
	read := id
	if err := read.UnmarshalJSON([]byte("null")); err != nil || !read.IsZero() {
		t.Errorf("null is read as %v, %v", read, err)
	}
	// A value that is not a string has a wrong size. If the size is right, it has a foreign character.
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

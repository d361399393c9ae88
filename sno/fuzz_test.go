package sno_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// modelParse reads a text slowly, as the sum of digits times powers of 32. It returns the offset of the
// first foreign character, or -1.
func modelParse(s string) (v *big.Int, offset int) {
	v = new(big.Int)
	for i := range len(s) {
		d := strings.Index(alphabet, string(rune(s[i])))
		if d < 0 {
			return nil, i
		}
		weight := new(big.Int).Exp(big.NewInt(32), big.NewInt(int64(len(s)-1-i)), nil)
		v.Add(v, weight.Mul(weight, big.NewInt(int64(d))))
	}
	return v, -1
}

// modelField returns the bits in [from, to), counted from the most significant bit.
func modelField(v *big.Int, from, to uint) int64 {
	f := new(big.Int).Rsh(v, 80-to)
	return f.Mod(f, new(big.Int).Lsh(big.NewInt(1), to-from)).Int64()
}

func modelText(v *big.Int) string {
	text, rest, digit := "", new(big.Int).Set(v), new(big.Int)
	for len(text) < 16 {
		rest.DivMod(rest, big.NewInt(32), digit)
		text = alphabet[digit.Int64():][:1] + text
	}
	return text
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "2222222222222222", "xxxxxxxxxxxxxxxx", "cufsekaqqudbobiw", "cufsekaqqudbobiW", "0123456789abcdef",
		"cufsekaqqudbobi", "cufsekaqqudbobiwx", "cufsekaqqudböiw", "yyyyyyyyyyyyyyyy", "\xff2222222222222\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		fuzzEncoded(t, s)
		v, offset := modelParse(s)
		if len(s) != sno.SizeEncoded || offset >= 0 {
			wantRefused(t, s, offset)
			return
		}
		wantModel(t, v, s)
	})
}

// fuzzEncoded compares each field read from a text with the model, also if the rest of the text is invalid.
func fuzzEncoded(t *testing.T, s string) {
	part := func(name string, from, to int, read func() (int64, error), want func(*big.Int) int64) {
		t.Helper()
		got, err := read()
		if len(s) != sno.SizeEncoded {
			wantRefusal(t, name, err, len(s), -1)
			return
		}
		v, offset := modelParse(s[from:to])
		switch {
		case offset >= 0:
			wantRefusal(t, name, err, len(s), from+offset)
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

func FuzzParseHex(f *testing.F) {
	for _, s := range []string{
		"", "00000000000000000000", "FFFFFFFFFFFFFFFFFFFF", "571ba64918c7169b261e", "571BA64918c7169b261g", "571ba64918c7169b261", "0x1ba64918c7169b261e",
		"571ba64918c7169b\u20ac1", "\xff71ba64918c7169b26\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := sno.ParseHex(s)
		v, offset := new(big.Int), -1
		for i := len(s) - 1; i >= 0; i-- {
			d := strings.Index("0123456789abcdef", strings.ToLower(s[i:i+1]))
			if d < 0 || s[i] >= 0x80 {
				offset = i
				continue
			}
			weight := new(big.Int).Exp(big.NewInt(16), big.NewInt(int64(len(s)-1-i)), nil)
			v.Add(v, weight.Mul(weight, big.NewInt(int64(d))))
		}
		switch {
		case len(s) != 2*sno.SizeBinary:
			wantHexRefusal(t, id, err, len(s), -1)
		case offset >= 0:
			wantHexRefusal(t, id, err, len(s), offset)
		case err != nil || new(big.Int).SetBytes(id[:]).Cmp(v) != 0:
			t.Errorf("ParseHex(%q) = %x, %v; want %x", s, id[:], err, v)
		}
	})
}

// wantHexRefusal checks the error of ParseHex: the size, or the foreign character.
func wantHexRefusal(t *testing.T, id sno.ID, err error, size, offset int) {
	t.Helper()
	var bySize *sno.InvalidDataSizeError
	var byCharacter *sno.ParseError
	switch {
	case !id.IsZero() || err == nil:
		t.Errorf("an ID, %x, and the error %v", id[:], err)
	case offset < 0 && (!errors.As(err, &bySize) || bySize.Size != size):
		t.Errorf("%v, want an InvalidDataSizeError of %d", err, size)
	case offset >= 0 && (!errors.As(err, &byCharacter) || byCharacter.Offset != offset):
		t.Errorf("%v, want a ParseError of offset %d", err, offset)
	}
}

func FuzzBinary(f *testing.F) {
	f.Add([]byte{}, int64(0))
	f.Add(bytes.Repeat([]byte{255}, 10), int64(1<<62))
	f.Add(make([]byte, sno.SizeEncoded), int64(0))
	f.Add([]byte{0x57, 0x1b, 0xa6, 0x49, 0x18, 0xc7, 0x16, 0x9b, 0x26, 0x1e}, int64(1e18))
	f.Fuzz(func(t *testing.T, b []byte, seconds int64) {
		id, err := sno.FromBinaryBytes(b)
		read := marked
		if err2 := read.UnmarshalBinary(b); (err == nil) != (err2 == nil) || err2 == nil && read != id || err2 != nil && read != marked {
			t.Errorf("UnmarshalBinary(%x) = %x, %v; FromBinaryBytes %x, %v", b, read[:], err2, id[:], err)
		}
		if len(b) != sno.SizeBinary {
			var size *sno.InvalidDataSizeError
			if !errors.As(err, &size) || size.Size != len(b) || !id.IsZero() {
				t.Errorf("%d bytes: %v, %v", len(b), id, err)
			}
			return
		}
		if err != nil || !bytes.Equal(id[:], b) {
			t.Fatalf("%x, %v", id, err)
		}
		v := new(big.Int).SetBytes(b)
		wantModel(t, v, modelText(v))

		// Any time, in range or not.
		when := time.Unix(seconds, int64(b[9])*1e6)
		first, last := sno.First(when), sno.Last(when)
		inRange := when.Unix() >= sno.Epoch && when.Before(at(sno.MaxTimestamp+1))
		built, err := sno.FromTime(when, id.Meta(), id.Partition(), id.Sequence())
		if (err == nil) != inRange || err == nil && (first.Compare(built) > 0 || last.Compare(built) < 0) {
			t.Errorf("FromTime(%v) = %v, %v, within %v and %v", when, built, err, first, last)
		}
		if first.Time() != last.Time() || first.Compare(last) >= 0 || inRange && (first.Time().After(when) || when.Sub(first.Time()) >= sno.TimeUnit) {
			t.Errorf("First and Last of %v are of %v and %v", when, first.Time(), last.Time())
		}
	})
}

// wantModel compares all fields and forms of an ID with arithmetic on its integer.
func wantModel(t *testing.T, v *big.Int, text string) {
	t.Helper()
	var id sno.ID
	v.FillBytes(id[:])
	for _, r := range readers {
		testkit.Call(r.read(text)).Gives(t, id)
	}
	nanos := (sno.Epoch*1000 + 4*modelField(v, 0, 39)) * 1e6
	if id.String() != text || id.Timestamp() != nanos || id.Time().UnixNano() != nanos ||
		id.TickTock() != int(modelField(v, 39, 40)) || int64(id.Meta()) != modelField(v, 40, 48) ||
		int64(id.Partition().AsUint16()) != modelField(v, 48, 64) || int64(id.Sequence()) != modelField(v, 64, 80) ||
		id.IsZero() != (v.Sign() == 0) {
		t.Errorf("%x: %s, time %d, tick-tock %d, meta %d, partition %d, sequence %d", id, id, id.Timestamp(),
			id.TickTock(), id.Meta(), id.Partition().AsUint16(), id.Sequence())
	}
	wantEncoded(t, text, id)
	back, err := sno.ParseHex(id.Hex())
	if err != nil || back != id {
		t.Errorf("ParseHex(%s) = %v, %v", id.Hex(), back, err)
	}
	testkit.Call(sno.FromUUID(id.UUID())).Gives(t, id)
	data, err := id.MarshalJSON()
	if err != nil || back.UnmarshalJSON(data) != nil || back != id {
		t.Errorf("JSON is %s, %v, read as %v", data, err, back)
	}
}

// FuzzJSON compares with the model: null, or the text in a JSON string.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`null`, `"cufsekaqqudbobiw"`, `"\u0063ufsekaqqudbobiw"`, `"`, ``, `7`, `"\x"`, `{"a":1}`, `nullx`, `"cufsekaqqudbobiW"`, `"2222222222222222"`, ` "cufsekaqqudbobiw" `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		direct := marked
		err := direct.UnmarshalJSON(data)
		var size *sno.InvalidDataSizeError
		var parse *sno.ParseError
		switch {
		case err != nil && direct != marked:
			t.Errorf("%q changed the ID beside the error %v", data, err)
		case err != nil && !errors.As(err, &size) && !errors.As(err, &parse):
			t.Errorf("%q: %T %v", data, err, err)
		case err == nil && !json.Valid(data):
			t.Errorf("UnmarshalJSON(%q) reads invalid JSON as %v", data, direct)
		}

		var value any
		if json.Unmarshal(data, &value) != nil {
			return // package json refuses the data itself
		}
		want, ok := new(big.Int), value == nil
		if text, isText := value.(string); isText && len(text) == sno.SizeEncoded {
			var offset int
			want, offset = modelParse(text)
			ok = offset < 0
		}
		for _, pkg := range jsonPackages {
			id := marked
			switch err := pkg.unmarshal(data, &id); {
			case (err == nil) != ok && pkg.name == "v1":
				t.Errorf("%s: %q gave %v, the model %v", pkg.name, data, err, ok)
			case err == nil && (!ok || new(big.Int).SetBytes(id[:]).Cmp(want) != 0):
				t.Errorf("%s: %q reads as %x, want %x", pkg.name, data, id[:], want)
			case err != nil && id != marked:
				t.Errorf("%s: %q gave an error but set the ID to %v", pkg.name, data, id)
			}
		}
	})
}

package inspect

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
)

// Info is an ID taken apart.
type Info struct {
	Format Format
	ID     string    // the canonical text
	Int    string    // the decimal integer; "" for formats of more than 64 bits
	Hex    string    // the big-endian binary form
	Time   time.Time // in UTC
	Fields []Field   // from the most significant; bits above the fields are zeros
}

// Field is a field of an ID.
type Field struct {
	Name   string
	Bits   int    // width; 0 for a field that the layout leaves out
	Value  string // decimal
	Quoted bool   // a string in JSON, since the value may not fit a number
}

// Inspect takes apart an ID in the given form. The error is the error of the format's own
// functions. With an error, the Info has the Format alone.
func (f Format) Inspect(s string, form Form, set Settings) (Info, error) {
	read := f.reader(form)
	if read == nil {
		return Info{}, fmt.Errorf("firn: format %q has no %s form", f.Name(), form)
	}
	id, err := read(s)
	if err != nil {
		return Info{Format: f}, err
	}
	return f.info(id, set)
}

// InspectBinary takes apart an ID in its binary form. The error is the error of the format's own
// functions. With an error, the Info has the Format alone.
func (f Format) InspectBinary(id []byte, set Settings) (Info, error) {
	if f.of == nil {
		return Info{}, errors.New("firn: the zero Format reads no ID")
	}
	return f.info(id, set)
}

// info takes apart the ID of a binary form.
func (f Format) info(id []byte, set Settings) (Info, error) {
	text, err := f.of.AppendText(nil, id)
	if err != nil {
		return Info{Format: f}, err
	}
	layout, err := f.of.Of(shape.Settings(set))
	if err != nil {
		return Info{Format: f}, err
	}
	if i := layout.Micro; i > 0 {
		if micro := layout.Fields[i].Of(id); micro > 999 {
			return Info{Format: f}, &iderr.ParseError{Format: f.of.Name, Input: string(text), Offset: -1, Err: iderr.ErrRange,
				Reason: fmt.Sprintf("the counter says %d microseconds, which is not in 0 to 999: the generator of the ID counts no microseconds", micro)}
		}
	}
	info := Info{Format: f, ID: string(text), Hex: hex.EncodeToString(id), Time: layout.Time(id)}
	if f.of.Integer() {
		info.Int = strconv.FormatUint(binary.BigEndian.Uint64(id), 10)
	}
	for _, field := range layout.Fields {
		info.Fields = append(info.Fields, fieldOf(field, id))
	}
	return info, nil
}

// fieldOf returns a field of an ID. The value of a long field may not fit a number of JSON.
func fieldOf(f shape.Field, id []byte) Field {
	const exact = 53 // bits
	field := Field{Name: f.Name, Bits: f.Bits}
	if f.Bits > exact {
		v := new(big.Int).SetBytes(id)
		v.Rsh(v, uint(f.Shift))
		v.And(v, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(f.Bits)), big.NewInt(1)))
		field.Value, field.Quoted = v.String(), true
		return field
	}
	field.Value = strconv.FormatUint(f.Of(id), 10)
	return field
}

// guesses read an ID in the forms that are tried if the form is not known. The first form that fits
// is taken.
var guesses = []func(f Format, s string, set Settings) (Info, error){
	func(f Format, s string, set Settings) (Info, error) { return f.Inspect(s, Text, set) },
	func(f Format, s string, set Settings) (Info, error) { return f.Inspect(s, Int, set) },
	func(f Format, s string, set Settings) (Info, error) { return f.Inspect(s, Hex, set) },
	func(f Format, s string, set Settings) (Info, error) {
		digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
		if !ok {
			return Info{}, iderr.ErrCharacter
		}
		const width = 16 // of an integer; programs print integers without leading zeros
		if n := len(digits); n > 0 && n < width && slices.Contains(f.Forms(), Int) {
			digits = strings.Repeat("0", width-n) + digits
		}
		return f.Inspect(digits, Hex, set)
	},
}

// Read takes apart an ID in any form: Read tries text, then decimal, hex of the full width, and hex
// behind 0x. Behind 0x, formats of up to 64 bits need no leading zeros.
//
// An s with the length and the alphabet of the canonical text is read as the text or is an error,
// even if all characters are digits: 8000000000000 is no Ulid-Flake. [Format.Inspect] with [Int]
// reads a decimal of that length.
//
// For a value out of range the error says so; otherwise the error is about the text.
func (f Format) Read(s string, set Settings) (Info, error) {
	var first error
	for n, guess := range guesses {
		info, err := guess(f, s, set)
		switch {
		case err == nil:
			return info, nil
		case n == 0 && errors.Is(err, iderr.ErrRange): // s has the length and the characters of a text
			return Info{}, err
		}
		if first == nil || errors.Is(err, iderr.ErrRange) && !errors.Is(first, iderr.ErrRange) {
			first = err
		}
	}
	return Info{}, first
}

// Candidates returns what s can be in all formats, the most plausible first. With forms, Candidates tries these
// forms alone. Without, it tries the forms in the order of [Format.Read], and stops at the first form that
// fits a format. Several formats may fit: every Ulid-Flake is both stand-alone and scalable.
//
// Past times are more plausible than future times, and times near now than others. The next 24 hours count
// as past, since clocks differ.
func Candidates(s string, set Settings, now time.Time, forms ...Form) []Info {
	tries := guesses
	if len(forms) > 0 {
		tries = nil
		for _, form := range forms {
			tries = append(tries, func(f Format, s string, set Settings) (Info, error) { return f.Inspect(s, form, set) })
		}
	}
	var fits []Info
	for _, try := range tries {
		for _, f := range Formats() {
			if info, err := try(f, s, set); err == nil {
				fits = append(fits, info)
			}
		}
		if len(fits) > 0 {
			break
		}
	}
	rank(fits, now)
	return fits
}

// rank sorts the candidates for an ID by how plausible their times are.
func rank(candidates []Info, now time.Time) {
	const skew = 24 * time.Hour
	slices.SortStableFunc(candidates, func(a, b Info) int {
		future := func(i Info) int { return min(max(0, i.Time.Compare(now.Add(skew))), 1) }
		distance := func(i Info) int64 { // a time.Duration ends at 292 years
			return max(i.Time.UnixMilli()-now.UnixMilli(), now.UnixMilli()-i.Time.UnixMilli())
		}
		return cmp.Or(cmp.Compare(future(a), future(b)), cmp.Compare(distance(a), distance(b)))
	})
}

// MarshalJSON implements [json.Marshaler]: one object with the members format, id, int (only for
// formats of up to 64 bits), hex, time (RFC 3339), unix_ms and fields, in this order. RFC 3339
// covers the years 0 to 9999, so time is null outside these years. SCRU160 has such times.
func (i Info) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	member := func(name, value string, quoted bool) {
		if last := b.Bytes()[b.Len()-1]; last != '{' {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Quote(name) + ":")
		if quoted {
			value = strconv.Quote(value) // plain ASCII, all of it
		}
		b.WriteString(value)
	}
	b.WriteByte('{')
	member("format", i.Format.Name(), true)
	member("id", i.ID, true)
	if i.Int != "" {
		member("int", i.Int, true)
	}
	member("hex", i.Hex, true)
	if year := i.Time.Year(); year < 0 || year > 9999 {
		member("time", "null", false)
	} else {
		member("time", i.Time.Format(time.RFC3339Nano), true)
	}
	member("unix_ms", strconv.FormatInt(i.Time.UnixMilli(), 10), false)
	b.WriteString(`,"fields":{`)
	for _, f := range i.Fields {
		member(f.Name, f.Value, f.Quoted)
	}
	b.WriteString("}}")
	return b.Bytes(), nil
}

var _ json.Marshaler = Info{}

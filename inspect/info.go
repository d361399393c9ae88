package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/form/object"
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
		return Info{}, f.noForm(form)
	}
	id, err := read(s)
	if err != nil {
		return Info{Format: f}, err
	}
	return f.InspectBinary(id, set)
}

func (f Format) noForm(form Form) error {
	return fmt.Errorf("firn: format %q has no %s form", f.Name(), form)
}

// InspectBinary takes apart an ID in its binary form. The error is the error of the format's own
// functions. With an error, the Info has the Format alone.
func (f Format) InspectBinary(id []byte, set Settings) (Info, error) {
	r, err := f.NewReader(set)
	if err != nil {
		return Info{Format: f}, err
	}
	return r.Info(id)
}

// Read takes apart an ID in any form: Read tries text, then decimal, hex of the full width, hex behind
// 0x, and the form of a UUID, also without hyphens. Behind 0x, formats of up to 64 bits need no leading zeros.
//
// An s with the length and the alphabet of the canonical text is read as the text or is an error,
// even if all characters are digits: 8000000000000 is no Ulid-Flake. [Format.Inspect] with [Int]
// reads a decimal of that length.
//
// For a value out of range the error says so; otherwise the error is about the text. With an error, the Info has
// the Format alone.
func (f Format) Read(s string, set Settings) (Info, error) {
	r, err := f.NewReader(set)
	if err != nil {
		return Info{Format: f}, err
	}
	id, err := r.AppendRead(nil, []byte(s))
	if err != nil {
		return Info{Format: f}, err
	}
	return r.Info(id)
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
	b.Write(object.AppendTime(nil, i.Time))
	b.WriteString(`,"fields":{`)
	for _, f := range i.Fields {
		member(f.Name, f.Value, f.Quoted)
	}
	b.WriteString("}}")
	return b.Bytes(), nil
}

var _ json.Marshaler = Info{}

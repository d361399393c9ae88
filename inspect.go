package firn

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Info is what an ID says, taken apart.
type Info struct {
	Format Format
	ID     string    // the canonical text
	Int    string    // the decimal integer; "" for formats of more than 64 bits
	Hex    string    // the big-endian binary form
	Time   time.Time // in UTC
	Fields []Field   // from the most significant; above them the binary form has zeros
}

// Field is one of an ID's fields.
type Field struct {
	Name   string
	Bits   int    // its width; 0 for a field that the layout leaves out
	Value  string // decimal
	Quoted bool   // JSON carries it as a string, since it may not fit a number
}

// Inspect takes an ID apart, which is written in the given form. The error is that of
// the format's own functions.
func (f Format) Inspect(s string, form Form, set Settings) (Info, error) {
	if !slices.Contains(f.Forms(), form) {
		return Info{}, fmt.Errorf("firn: format %q has no %s form", f.Name(), form)
	}
	info, err := f.inspect(s, form, set)
	info.Format = f
	return info, err
}

// Detect returns the formats that s, written in the given form, is an ID of. They may
// be several: any Ulid-Flake is both stand-alone and scalable.
func Detect(s string, form Form) []Format {
	var found []Format
	for _, f := range Formats() {
		if _, err := f.Inspect(s, form, Settings{}); err == nil {
			found = append(found, f)
		}
	}
	return found
}

// MarshalJSON implements [json.Marshaler]: one object with the members format, id,
// int (not for formats of more than 64 bits), hex, time (RFC 3339), unix_ms and
// fields, in this order. RFC 3339 ends with the year 9999: a time beyond that, as SCRU160
// has them, or before the year 0 is null, and unix_ms has it.
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

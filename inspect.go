package firn

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/iderr"
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

// guesses are the forms that an ID is read in if nobody names the form. The first form that fits is the ID's.
var guesses = []func(f Format, s string, set Settings) (Info, error){
	func(f Format, s string, set Settings) (Info, error) { return f.Inspect(s, Text, set) },
	func(f Format, s string, set Settings) (Info, error) { return f.Inspect(s, Int, set) },
	func(f Format, s string, set Settings) (Info, error) { return f.Inspect(s, Hex, set) },
	func(f Format, s string, set Settings) (Info, error) {
		digits, ok := strings.CutPrefix(strings.ToLower(s), "0x")
		if !ok {
			return Info{}, iderr.ErrCharacter
		}
		const width = 16 // of an integer, which programs print without leading zeros
		if n := len(digits); n > 0 && n < width && slices.Contains(f.Forms(), Int) {
			digits = strings.Repeat("0", width-n) + digits
		}
		return f.Inspect(digits, Hex, set)
	},
}

// Read takes an ID apart, whatever its form: Read tries text, then decimal, hex of the full width, and hex
// behind 0x. Behind 0x, formats of up to 64 bits need no leading zeros. The error is that of the text, or
// of the decimal if it is a number out of range.
func (f Format) Read(s string, set Settings) (Info, error) {
	var first error
	for _, guess := range guesses {
		info, err := guess(f, s, set)
		if err == nil {
			return info, nil
		}
		if first == nil || errors.Is(err, iderr.ErrRange) && !errors.Is(first, iderr.ErrRange) {
			first = err
		}
	}
	return Info{}, first
}

// Candidates returns what s can be, whatever its form and format, in the order of [Rank]. Text comes
// before the other forms, as for [Format.Read]: if some formats read s as text, no format reads s as
// a number.
func Candidates(s string, set Settings, now time.Time) []Info {
	var fits []Info
	for _, guess := range guesses {
		for _, f := range Formats() {
			if info, err := guess(f, s, set); err == nil {
				fits = append(fits, info)
			}
		}
		if len(fits) > 0 {
			break
		}
	}
	Rank(fits, now)
	return fits
}

// Rank sorts what an ID can be by how plausible the times are: times up to now before times to come, and
// of each the nearest to now first. Times of the next day count as past, since clocks differ.
func Rank(candidates []Info, now time.Time) {
	const skew = 24 * time.Hour
	slices.SortStableFunc(candidates, func(a, b Info) int {
		future := func(i Info) int { return min(max(0, i.Time.Compare(now.Add(skew))), 1) }
		distance := func(i Info) int64 { // a time.Duration ends at 292 years
			return max(i.Time.UnixMilli()-now.UnixMilli(), now.UnixMilli()-i.Time.UnixMilli())
		}
		return cmp.Or(cmp.Compare(future(a), future(b)), cmp.Compare(distance(a), distance(b)))
	})
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

package sqlscripts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shape"
)

// A key is a format with its settings, in the numbers that the scripts need: its IDs are keys of tables.
type key struct {
	*shape.Format
	Shape shape.Shape
	Ident string // the name in the names of functions
	ID    string // the column of the IDs, in SQLite
}

// newKey returns the key of a format.
func newKey(f formats.Format, set shape.Settings) (key, error) {
	d := f.Descriptor()
	s, err := d.Of(set)
	if err == nil && d.Check != nil {
		err = d.Check(set) // no generator has such settings
	}
	return key{Format: d, Shape: s, Ident: strings.ReplaceAll(d.Name, "-", "_")}, err
}

// Most returns the largest ID, if IDs are integers.
func (k key) Most() int64 { return 1<<min(k.Shape.Bits(), 63) - 1 }

// Unit returns the milliseconds of a timestamp.
func (k key) Unit() int64 { return k.Shape.Unit.Milliseconds() }

// UnitName returns Unit in words.
func (k key) UnitName() string {
	if k.Unit() == 1 {
		return "millisecond"
	}
	return fmt.Sprintf("%d milliseconds", k.Unit())
}

// TicksADay returns how many timestamps a day has.
func (k key) TicksADay() int64 { return (24 * time.Hour).Milliseconds() / k.Unit() }

// LastMilli returns the last millisecond of the last timestamp, counted from the epoch.
func (k key) LastMilli() int64 { return (k.Shape.LastTimestamp()+1)*k.Unit() - 1 }

// TimeInDouble reports whether a double holds all times since the epoch, in whole microseconds.
func (k key) TimeInDouble() bool { return k.LastMilli() < 1<<53/1000 }

// LastDatetime returns the last timestamp before the end of the year 9999, where DATETIME ends, or 0 if
// no timestamp is behind.
func (k key) LastDatetime() int64 {
	end := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
	if last := (end - k.Shape.Epoch) / k.Unit(); last < k.Shape.LastTimestamp() {
		return last
	}
	return 0
}

// TimeShift returns the number of bits below the timestamp, and Rest these bits, all set.
func (k key) TimeShift() int { return k.Shape.Fields[0].Shift }
func (k key) Rest() int64    { return 1<<k.TimeShift() - 1 }

// Tail returns how many whole bytes are below the timestamp, HeadDigits the hexadecimal digits of the
// bytes above, Pad the bits that the last of these bytes has of other fields, and PadMask these bits,
// all set.
func (k key) Tail() int       { return k.TimeShift() / 8 }
func (k key) HeadDigits() int { return 2 * (k.Size - k.Tail()) }
func (k key) Pad() int        { return k.TimeShift() % 8 }
func (k key) PadMask() int    { return 1<<k.Pad() - 1 }

// EpochText returns the epoch as databases write times, in UTC.
func (k key) EpochText() string {
	return time.UnixMilli(k.Shape.Epoch).UTC().Format("2006-01-02 15:04:05.000")
}

// HasLayouts reports whether the widths are a setting.
func (k key) HasLayouts() bool { return k.Has("clock-bits") }

// Layout returns the widths of the fields, such as 40-5-8.
func (k key) Layout() string {
	var widths []string
	for _, f := range k.Shape.Fields {
		widths = append(widths, fmt.Sprint(f.Bits))
	}
	return strings.Join(widths, "-")
}

// settings returns the flags that make the same key, for comments.
func (k key) settings() string {
	var words []string
	if k.Has("epoch") {
		words = append(words, "--epoch "+time.UnixMilli(k.Shape.Epoch).UTC().Format(time.RFC3339Nano))
	}
	if k.HasLayouts() {
		clock, machine := k.Shape.Fields[0].Bits, k.Shape.Fields[1].Bits
		words = append(words, fmt.Sprintf("--clock-bits %d --machine-bits %d", clock, machine))
	}
	return strings.Join(words, " ")
}

// HasUUID reports whether the IDs have a form of a UUID.
func (k key) HasUUID() bool {
	return slices.ContainsFunc(k.Columns, func(c shape.Column) bool { return c.Type == shape.UUID })
}

// A field is a field of an ID, and the bytes of the ID that have a part of it.
type field struct {
	shape.Field
	Key         key
	Start, Size int // of the bytes
}

// Fields returns the fields of an ID.
func (k key) Fields() (all []field) {
	for _, f := range k.Shape.Fields {
		start := k.Size - (f.Shift+f.Bits+7)/8
		all = append(all, field{f, k, start, k.Size - f.Shift/8 - start})
	}
	return all
}

// Words returns the name of the field for people.
func (f field) Words() string { return strings.ReplaceAll(f.Name, "_", " ") }

// Mask returns the bits of the field, all set.
func (f field) Mask() int64 { return 1<<f.Bits - 1 }

// Below returns how many bits the bytes have below the field, and Cut whether they have bits above.
func (f field) Below() int { return f.Shift % 8 }
func (f field) Cut() bool  { return (f.Bits+f.Below())%8 > 0 }

// Nibbles returns the hexadecimal digits that have a part of the field, each with the bits of the digits
// after it. Over is how many bits the digits have below the field.
func (f field) Nibbles() (all []digit) {
	from := 8*f.Key.Size - f.Shift - f.Bits
	start, end := from/4, (from+f.Bits+3)/4
	for i := start; i < end; i++ {
		all = append(all, digit{key: f.Key, Place: i + 1, Shift: 4 * (end - 1 - i)})
	}
	return all
}
func (f field) Over() int { return f.Shift % 4 }

// Base returns the number of the characters of a text, which says how a text has the bits of an ID:
// 10, 32 or 36.
func (k key) Base() int { return len(k.Text.Digits) }

// HasConv reports whether the function CONV of MySQL writes the characters of texts in base-32.
func (k key) HasConv() bool {
	return !k.Integer() && k.Folded() == "0123456789ABCDEFGHIJKLMNOPQRSTUV"
}

// Folded returns the characters as parse functions look them up: in upper case if the format reads both.
func (k key) Folded() string {
	if k.Text.AnyCase {
		return strings.ToUpper(k.Text.Digits)
	}
	return k.Text.Digits
}

// Letters returns the characters that parse reads, of both cases of a letter if the format reads both.
func (k key) Letters() string {
	if k.Text.AnyCase {
		return anyCase(k.Folded())
	}
	return k.Text.Digits
}

// HexLetters returns the digits that parse reads in hexadecimal, and HexLength their number.
func (k key) HexLetters() string { return anyCase("0123456789ABCDEF") }
func (k key) HexLength() int     { return 2 * k.Size }

// anyCase returns an alphabet with the letters of both cases.
func anyCase(alphabet string) string {
	return alphabet + strings.TrimLeft(strings.ToLower(alphabet), "0123456789")
}

// Lengths returns the lengths of texts.
func (k key) Lengths() string {
	switch {
	case k.Text.HexToo:
		return fmt.Sprintf("%d (base32hex) or %d (hex)", k.Text.Most, k.HexLength())
	case k.Text.Least < k.Text.Most:
		return fmt.Sprintf("%d to %d", k.Text.Least, k.Text.Most)
	}
	return fmt.Sprint(k.Text.Most)
}

// LengthsInWords returns Lengths for a comment.
func (k key) LengthsInWords() string { return strings.Replace(k.Lengths(), " (", " characters (", 1) }

// Allowed returns the range of the texts of integers.
func (k key) Allowed() string {
	switch {
	case k.Base() == 10:
		return fmt.Sprintf("0 to %d", k.Most())
	case k.Base() == 36:
		return "0 to " + k.Text.Largest
	case k.Integer():
		return strings.Repeat(k.Text.Digits[:1], k.Text.Least) + " to " + k.Text.Largest
	}
	return ""
}

// A digit is a digit of a number, or what is computed from digits.
type digit struct {
	key
	Place int   // of the digit, from 1; of the first of a pair
	Pair  bool  // the next digit is needed, too
	Shift int   // of the bits
	Power int64 // of 36
	Group int   // of five bytes, or eight characters
}

// Characters returns the characters of a text: of integers, or in groups of eight.
func (k key) Characters() []digit {
	all := make([]digit, k.Text.Most)
	power := int64(1)
	for i := range slices.Backward(all) {
		all[i] = digit{key: k, Place: i + 1, Shift: 5 * (len(all) - 1 - i), Power: power}
		if !k.Integer() {
			all[i].Shift, all[i].Group = 5*(7-i%8), i/8
		}
		power *= 36
	}
	return all
}

// Groups returns the Characters by their groups.
func (k key) Groups() [][]digit {
	if k.Integer() {
		return [][]digit{k.Characters()}
	}
	return slices.Collect(slices.Chunk(k.Characters(), 8))
}

// DigitsOfBytes returns the five bits of each character, from the hexadecimal digits of the bytes.
func (k key) DigitsOfBytes() []digit { return k.regroup(k.Text.Most, 5, 4) }

// DigitsOfText returns the four bits of each hexadecimal digit, from the characters of a text.
func (k key) DigitsOfText() []digit { return k.regroup(2*k.Size, 4, 5) }

// regroup returns n digits of so many bits, from digits of other widths.
func (k key) regroup(n, bits, from int) (all []digit) {
	for i := range n {
		d := digit{key: k, Place: bits*i/from + 1, Shift: from - bits*i%from - bits}
		if d.Shift < 0 {
			d.Pair, d.Shift = true, d.Shift+from
		}
		all = append(all, d)
	}
	return all
}

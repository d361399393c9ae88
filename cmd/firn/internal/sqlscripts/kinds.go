package sqlscripts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/snowflakesi"
)

// A kind is a format with its settings, in the numbers that the scripts need.
type kind struct {
	name  string // of the format
	ident string // the name in the names of functions
	bytes int    // length of the binary form
	most  int64  // the largest ID, if IDs are integers
	epoch int64  // time of timestamp 0, in Unix milliseconds
	unit  int64  // milliseconds of a timestamp

	fields     []field // from the most significant
	fixed      bool    // the epoch is fixed
	hasLayouts bool    // the widths are a setting
}

// A field is a field of an ID. The shift is the number of bits below the field.
type field struct {
	name        string
	bits, shift int
}

// newKind returns the kind of a format. The names and the widths of the fields and the epoch are
// those that the library reports of the zero ID.
func newKind(f formats.Format, set inspect.Settings) (kind, error) {
	k := kind{name: f.Name(), ident: strings.ReplaceAll(f.Name(), "-", "_"), bytes: 8, unit: 1}
	switch k.name {
	case "scru160":
		k.bytes, k.fixed = 20, true
	case "sno":
		k.bytes, k.fixed, k.unit = 10, true, 4
	case "snowflakesi":
		k.hasLayouts = true
	}
	zero, err := f.Inspect(strings.Repeat("00", k.bytes), inspect.Hex, set)
	if err != nil {
		return kind{}, err
	}
	k.epoch = zero.Time.UnixMilli()
	shift := 0
	for _, f := range slices.Backward(zero.Fields) {
		k.fields = append(k.fields, field{f.Name, f.Bits, shift})
		shift += f.Bits
	}
	slices.Reverse(k.fields)
	k.most = 1<<min(shift, 63) - 1
	return k, nil
}

// integer reports whether IDs are integers of 64 bits.
func (k kind) integer() bool { return k.bytes == 8 }

// lastTimestamp returns the largest timestamp.
func (k kind) lastTimestamp() int64 { return 1<<k.fields[0].bits - 1 }

// lastMilli returns the last millisecond of the last timestamp, counted from the epoch.
func (k kind) lastMilli() int64 { return (k.lastTimestamp()+1)*k.unit - 1 }

// shift returns the number of bits below the timestamp.
func (k kind) shift() int { return k.fields[0].shift }

// rest returns the bits below the timestamp, all set.
func (k kind) rest() int64 { return 1<<k.shift() - 1 }

// epochText returns the epoch as databases write times, in UTC.
func (k kind) epochText() string {
	return time.UnixMilli(k.epoch).UTC().Format("2006-01-02 15:04:05.000")
}

// layout returns the widths of the fields, such as 40-5-8.
func (k kind) layout() string {
	var widths []string
	for _, f := range k.fields {
		widths = append(widths, fmt.Sprint(f.bits))
	}
	return strings.Join(widths, "-")
}

// The alphabets of the texts, in the order of the values. Scripts write parse functions for both
// cases of a letter by turning texts into upper case first.
const (
	decimal   = "0123456789"
	base36    = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	base32hex = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	snoDigits = "23456789abcdefghijklmnopqrstuvwx"
	hexDigits = "0123456789ABCDEF"

	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerCase = "abcdefghijklmnopqrstuvwxyz"

	largestBase36    = "1Y2P0IJ32E8E7" // of 63 bits
	largestCrockford = "7ZZZZZZZZZZZZ"
)

// anyCase returns an alphabet with the letters of both cases.
func anyCase(alphabet string) string {
	return alphabet + strings.TrimLeft(strings.ToLower(alphabet), decimal)
}

// pow36 returns the i-th power of 36.
func pow36(i int) int64 {
	v := int64(1)
	for range i {
		v *= 36
	}
	return v
}

// join returns the n terms with a separator between.
func join(n int, separator string, term func(i int) string) string {
	terms := make([]string, n)
	for i := range terms {
		terms[i] = term(i)
	}
	return strings.Join(terms, separator)
}

// settings returns the flags that make the same kind, for comments.
func (k kind) settings() string {
	var words []string
	if !k.fixed {
		words = append(words, "--epoch "+time.UnixMilli(k.epoch).UTC().Format(time.RFC3339Nano))
	}
	if k.hasLayouts {
		words = append(words, fmt.Sprintf("--clock-bits %d --machine-bits %d", k.fields[0].bits, k.fields[1].bits))
	}
	return strings.Join(words, " ")
}

// check returns the error of the library for settings that no generator has.
func (k kind) check(set inspect.Settings) error {
	if !k.hasLayouts {
		return nil
	}
	_, err := snowflakesi.First(set.Layout, time.Time{}, set.Epoch)
	return err
}

// allKinds returns the number of all formats.
func allKinds() int { return len(formats.Names()) }

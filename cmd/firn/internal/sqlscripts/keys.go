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
	shape shape.Shape
	ident string // the name in the names of functions
}

// newKey returns the key of a format.
func newKey(f formats.Format, set shape.Settings) (key, error) {
	d := f.Descriptor()
	s, err := d.Of(set)
	if err == nil && d.Check != nil {
		err = d.Check(set) // no generator has such settings
	}
	if err != nil {
		return key{}, err
	}
	return key{d, s, strings.ReplaceAll(d.Name, "-", "_")}, nil
}

// most returns the largest ID, if IDs are integers.
func (k key) most() int64 { return 1<<min(k.shape.Bits(), 63) - 1 }

// unit returns the milliseconds of a timestamp.
func (k key) unit() int64 { return k.shape.Unit.Milliseconds() }

// lastMilli returns the last millisecond of the last timestamp, counted from the epoch.
func (k key) lastMilli() int64 { return (k.shape.LastTimestamp()+1)*k.unit() - 1 }

// shift returns the number of bits below the timestamp.
func (k key) shift() int { return k.shape.Fields[0].Shift }

// pad returns the number of bits between the timestamp and the next whole byte.
func (k key) pad() int { return k.shift() % 8 }

// rest returns the bits below the timestamp, all set.
func (k key) rest() int64 { return 1<<k.shift() - 1 }

// epochText returns the epoch as databases write times, in UTC.
func (k key) epochText() string {
	return time.UnixMilli(k.shape.Epoch).UTC().Format("2006-01-02 15:04:05.000")
}

// layout returns the widths of the fields, such as 40-5-8.
func (k key) layout() string {
	var widths []string
	for _, f := range k.shape.Fields {
		widths = append(widths, fmt.Sprint(f.Bits))
	}
	return strings.Join(widths, "-")
}

// The number of an alphabet's characters says how a text has the bits of an ID.
const (
	base10 = 10
	base32 = 32
	base36 = 36
)

const (
	decimal   = "0123456789"
	hexDigits = "0123456789ABCDEF"
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
)

// upper returns the characters of the text in upper case. Scripts write parse functions for both cases
// of a letter by turning texts into upper case first.
func (k key) upper() string { return strings.ToUpper(k.Text.Digits) }

// folded returns the characters as parse functions look them up: in upper case if the format reads both.
func (k key) folded() string {
	if k.Text.AnyCase {
		return k.upper()
	}
	return k.Text.Digits
}

// letters returns the characters that parse reads, of both cases of a letter if the format reads both.
func (k key) letters() string {
	if !k.Text.AnyCase {
		return k.Text.Digits
	}
	return anyCase(k.upper())
}

// anyCase returns an alphabet with the letters of both cases.
func anyCase(alphabet string) string {
	return alphabet + strings.TrimLeft(strings.ToLower(alphabet), decimal)
}

// least returns the smallest text of integers.
func (k key) least() string {
	if len(k.Text.Digits) == base36 {
		return "0"
	}
	return strings.Repeat(k.Text.Digits[:1], k.Text.Least)
}

// allowed returns the range of the texts of integers.
func (k key) allowed() string { return k.least() + " to " + k.Text.Largest }

// groups returns how often the bytes of an ID have 5 bytes, which are 8 characters of base-32.
func (k key) groups() int { return k.Size / 5 }

// ranges returns a set of characters as patterns have it: 0-9A-HJ.
func ranges(characters string) string {
	var b strings.Builder
	for i := 0; i < len(characters); {
		j := i
		for j+1 < len(characters) && characters[j+1] == characters[j]+1 {
			j++
		}
		if j-i < 2 {
			b.WriteString(characters[i : j+1])
		} else {
			b.WriteString(characters[i:i+1] + "-" + characters[j:j+1])
		}
		i = j + 1
	}
	return b.String()
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

// hasLayouts reports whether the widths are a setting.
func (k key) hasLayouts() bool { return k.Has("clock-bits") }

// settings returns the flags that make the same key, for comments.
func (k key) settings() string {
	var words []string
	if k.Has("epoch") {
		words = append(words, "--epoch "+time.UnixMilli(k.shape.Epoch).UTC().Format(time.RFC3339Nano))
	}
	if k.hasLayouts() {
		words = append(words, fmt.Sprintf("--clock-bits %d --machine-bits %d", k.shape.Fields[0].Bits, k.shape.Fields[1].Bits))
	}
	return strings.Join(words, " ")
}

// hasUUID reports whether the IDs have a form of a UUID.
func (k key) hasUUID() bool {
	return slices.ContainsFunc(k.Columns, func(c shape.Column) bool { return c.Type == shape.UUID })
}

// allKeys returns the number of all formats.
func allKeys() int { return len(formats.Names()) }

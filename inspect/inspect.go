// Package inspect reads IDs of all formats, for tools. The package finds out the format of an ID, and takes IDs
// apart. A program that uses one format reads its IDs by the package of the format.
package inspect

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// A Format is one of the published formats. Formats compare with ==. The zero Format has no name
// and no forms.
type Format struct{ of *shape.Format }

// A Form is a way to write an ID.
type Form uint8

const (
	Text   Form = iota // the format's canonical text, or another text that Parse reads
	Int                // the decimal integer, for formats of up to 64 bits
	Hex                // the big-endian binary form in hexadecimal
	Base36             // Nanoflake's text with or without leading zeros; only for reading
	UUID               // the text of a UUID that has the ID's text; only for reading
)

var formNames = [...]string{Text: "text", Int: "int", Hex: "hex", Base36: "base36", UUID: "uuid"}

// String returns "text", "int", "hex", "base36" or "uuid".
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return "Form(" + strconv.Itoa(int(f)) + ")"
}

// ParseForm returns the Form of that name.
func ParseForm(name string) (Form, error) {
	for f, n := range formNames {
		if n == name {
			return Form(f), nil
		}
	}
	return 0, fmt.Errorf("firn: %q is not a form of an ID: want text, int, hex, base36 or uuid", name)
}

// Settings are what a reader of IDs has to know beside the ID. The zero Settings are the defaults
// of each format.
type Settings struct {
	// Epoch is the time of timestamp 0, for formats without a fixed epoch.
	Epoch time.Time

	// ClockBits and MachineBits are the layout of snowflakesi, as in snowflakesi.Layout.
	ClockBits, MachineBits int

	// CounterBits and NodeBits are ExtraCounterBits and NodeBits of scru160.Config, and Microseconds
	// says that the counter is CounterMicroseconds.
	CounterBits, NodeBits int
	Microseconds          bool
}

// all lists the formats in the order of listings and of detection.
var all = []*shape.Format{
	nanoflake.Descriptor(),
	ulidflake.Descriptor(),
	ulidflake.DescriptorScalable(),
	snowflakesi.Descriptor(),
	scru160.Descriptor(),
	sno.Descriptor(),
}

// Formats returns all formats.
func Formats() []Format {
	formats := make([]Format, len(all))
	for i, f := range all {
		formats[i] = Format{f}
	}
	return formats
}

// Lookup returns the format of that name. ok reports whether the format exists.
func Lookup(name string) (f Format, ok bool) {
	i := slices.IndexFunc(all, func(f *shape.Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Format{all[i]}, true
}

// Descriptor describes the format to Firn's own tools. Do not change what it returns, which is nil for
// the zero Format.
func (f Format) Descriptor() *shape.Format { return f.of }

// Name returns the format's name, as commands and errors show it, or "" for the zero Format.
func (f Format) Name() string {
	if f.of == nil {
		return ""
	}
	return f.of.Name
}

// Worker returns the name of the worker number in this format, or "" if the format has no workers.
func (f Format) Worker() string {
	if f.of == nil {
		return ""
	}
	return f.of.Worker
}

// Forms returns the forms that the format's IDs have.
func (f Format) Forms() []Form {
	var forms []Form
	for form := range formNames {
		if f.reader(Form(form)) != nil {
			forms = append(forms, Form(form))
		}
	}
	return forms
}

// reader returns the format's function that reads a form, or nil.
func (f Format) reader(form Form) func(string) ([]byte, error) {
	if f.of == nil {
		return nil
	}
	switch form {
	case Text:
		return f.of.Parse
	case Int:
		return f.of.Decimal
	case Hex:
		return f.of.Hex
	case Base36:
		return f.of.Base36
	case UUID:
		return f.of.UUID
	}
	return nil
}

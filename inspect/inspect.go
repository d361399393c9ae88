// Package inspect reads IDs of all formats, for tools. The package finds out the format of an ID, and takes IDs
// apart. A program that uses one format reads its IDs by the package of the format.
package inspect

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// A Format is one of the published formats. Formats compare with ==. The zero Format has no name
// and no forms.
type Format struct{ *format }

type format struct {
	name   string
	worker string
	forms  []Form

	inspect func(s string, form Form, set Settings) (Info, error)
}

// A Form is a way to write an ID.
type Form uint8

const (
	Text   Form = iota // the format's canonical text, or another text that Parse reads
	Int                // the decimal integer, for formats of up to 64 bits
	Hex                // the big-endian binary form in hexadecimal
	Base36             // Nanoflake's text with or without leading zeros; only for reading
)

var formNames = [...]string{Text: "text", Int: "int", Hex: "hex", Base36: "base36"}

// String returns "text", "int", "hex" or "base36".
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
	return 0, fmt.Errorf("firn: %q is no form of an ID: want text, int, hex or base36", name)
}

// Settings are what a reader of IDs has to know beside the ID. The zero Settings are the defaults
// of each format.
type Settings struct {
	// Epoch is the time of timestamp 0, for formats without a fixed epoch.
	Epoch time.Time
	// Layout is the layout of snowflakesi.
	Layout snowflakesi.Layout
	// Counter, ExtraCounterBits and NodeBits are as in scru160.Config.
	Counter          scru160.Counter
	ExtraCounterBits int
	NodeBits         int
}

// all lists the formats in the order of listings and of detection.
var all = []*format{
	{
		name: "nanoflake", worker: "generator ID", forms: []Form{Text, Int, Hex, Base36},
		inspect: reader(forms[nanoflake.ID]{Text: nanoflake.Parse, Int: nanoflake.ParseDecimal, Hex: nanoflake.ParseHex, Base36: nanoflake.ParseBase36}, func(id nanoflake.ID, set Settings) Info {
			return integer(id, id.Hex(), id.Time(set.Epoch),
				number("timestamp", 41, id.Timestamp()),
				number("generator_id", 10, int64(id.GeneratorID())),
				number("sequence", 12, int64(id.Sequence())))
		}),
	},
	{
		name: "ulidflake", forms: []Form{Text, Int, Hex},
		inspect: reader(forms[ulidflake.ID]{Text: ulidflake.Parse, Int: ulidflake.ParseDecimal, Hex: ulidflake.ParseHex}, func(id ulidflake.ID, set Settings) Info {
			return integer(id, id.Hex(), id.Time(set.Epoch),
				number("timestamp", 43, id.Timestamp()),
				number("randomness", 20, int64(id.Randomness())))
		}),
	},
	{
		name: "ulidflake-scalable", worker: "scalability", forms: []Form{Text, Int, Hex},
		inspect: reader(forms[ulidflake.ScalableID]{Text: ulidflake.ParseScalable, Int: ulidflake.ParseScalableDecimal, Hex: ulidflake.ParseScalableHex}, func(id ulidflake.ScalableID, set Settings) Info {
			return integer(id, id.Hex(), id.Time(set.Epoch),
				number("timestamp", 43, id.Timestamp()),
				number("randomness", 15, int64(id.Randomness())),
				number("scalability", 5, int64(id.Scalability())))
		}),
	},
	{
		name: "snowflakesi", worker: "machine ID", forms: []Form{Text, Int, Hex},
		inspect: reader(forms[snowflakesi.ID]{Text: snowflakesi.Parse, Int: snowflakesi.Parse, Hex: snowflakesi.ParseHex}, func(id snowflakesi.ID, set Settings) Info {
			clock, machine, sequence := set.Layout.Widths()
			return integer(id, id.Hex(), id.Time(set.Layout, set.Epoch),
				number("timestamp", clock, id.Timestamp(set.Layout)),
				number("machine_id", machine, int64(id.MachineID(set.Layout))),
				number("sequence", sequence, int64(id.Sequence(set.Layout))))
		}),
	},
	{
		name: "scru160", forms: []Form{Text, Hex},
		inspect: inspectSCRU160,
	},
	{
		name: "sno", worker: "partition", forms: []Form{Text, Hex},
		inspect: reader(forms[sno.ID]{Text: sno.Parse, Hex: sno.ParseHex}, func(id sno.ID, _ Settings) Info {
			return Info{
				ID: id.String(), Hex: id.Hex(), Time: id.Time(),
				Fields: []Field{
					number("timestamp", 39, (id.Timestamp()-sno.Epoch*1e9)/sno.TimeUnit),
					number("tick_tock", 1, int64(id.TickTock())),
					number("meta", 8, int64(id.Meta())),
					number("partition", 16, int64(id.Partition().AsUint16())),
					number("sequence", 16, int64(id.Sequence())),
				},
			}
		}),
	},
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
	for _, f := range all {
		if f.name == name {
			return Format{f}, true
		}
	}
	return Format{}, false
}

// Name returns the format's name, as commands and errors show it, or "" for the zero Format.
func (f Format) Name() string {
	if f.format == nil {
		return ""
	}
	return f.name
}

// Worker returns the name of the worker number in this format, or "" if the format has no workers.
func (f Format) Worker() string {
	if f.format == nil {
		return ""
	}
	return f.worker
}

// Forms returns the forms that the format's IDs have.
func (f Format) Forms() []Form {
	if f.format == nil {
		return nil
	}
	return slices.Clone(f.forms)
}

// forms are the functions of a format that read each form.
type forms[T any] map[Form]func(string) (T, error)

// reader returns a format's inspect function.
func reader[T any](read forms[T], info func(T, Settings) Info) func(string, Form, Settings) (Info, error) {
	return func(s string, form Form, set Settings) (Info, error) {
		id, err := read[form](s)
		if err != nil {
			return Info{}, err
		}
		return info(id, set), nil
	}
}

// inspectSCRU160 has more fields if the settings give bits of random16 to the counter or to a node ID,
// or bits of the counter to microseconds.
//
// Specification: "Alternative counter usage", "random16".
func inspectSCRU160(s string, form Form, set Settings) (Info, error) {
	id, err := forms[scru160.ID]{Text: scru160.Parse, Hex: scru160.ParseHex}[form](s)
	if err != nil {
		return Info{}, err
	}
	extra, node := set.ExtraCounterBits, set.NodeBits
	if extra < 0 || extra > 16 {
		return Info{}, wrong.Config("scru160", "ExtraCounterBits", extra, "in 0 to 16")
	}
	if node < 0 || node > 16-extra {
		return Info{}, wrong.Config("scru160", "NodeBits", node, "in 0 to "+strconv.Itoa(16-extra))
	}
	info := Info{ID: id.String(), Hex: id.Hex(), Time: id.Time(), Fields: []Field{number("timestamp", 48, id.Timestamp())}}
	counter, bits := id.Counter(), 16
	if set.Counter == scru160.CounterMicroseconds {
		bits = 6
		micro := counter >> bits
		if micro > 999 {
			return Info{}, &iderr.ParseError{Format: "scru160", Input: wrong.Clip(s), Offset: -1, Err: iderr.ErrRange,
				Reason: fmt.Sprintf("the counter says %d microseconds, which is not in 0 to 999: the generator of the ID counts no microseconds", micro)}
		}
		counter &= 1<<bits - 1
		info.Time = info.Time.Add(time.Duration(micro) * time.Microsecond)
		info.Fields = append(info.Fields, number("microsecond", 10, int64(micro)))
	}
	rest := 16 - extra
	info.Fields = append(info.Fields, number("counter", bits+extra, int64(counter<<extra|id.Random16()>>rest)))
	if node > 0 {
		info.Fields = append(info.Fields, number("node_id", node, int64(id.NodeID(extra, node))))
		rest -= node
	}
	random80 := id.Random80()
	info.Fields = append(info.Fields,
		number("random16", rest, int64(id.Random16()&(1<<rest-1))),
		Field{Name: "random80", Bits: 80, Value: new(big.Int).SetBytes(random80[:]).String(), Quoted: true})
	return info, nil
}

// integer returns the Info of a format of integers.
func integer[T interface {
	Int64() int64
	String() string
}](id T, hex string, t time.Time, fields ...Field) Info {
	return Info{ID: id.String(), Int: strconv.FormatInt(id.Int64(), 10), Hex: hex, Time: t, Fields: fields}
}

func number(name string, bits int, v int64) Field {
	return Field{Name: name, Bits: bits, Value: strconv.FormatInt(v, 10)}
}

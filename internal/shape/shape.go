// Package shape has the type of a format's descriptor. Each format has one [Format] beside its
// constants, and whatever works with all formats reads the descriptors: package inspect, which has the
// list of all formats, the commands, the scripts for databases, the npm package, the workshop. A new
// format is therefore one folder, and one line in the list.
package shape

import (
	be "encoding/binary"
	"slices"
	"time"

	"github.com/firn-id/firn/lease/grant"
)

// A Format describes a format to tools.
type Format struct {
	Name   string // in commands, errors and pools
	Worker string // the name of the worker's number; "" if the default settings have no worker
	Field  string // of the format's Config, for the worker's number

	// Options are the settings that some formats have and others have not, by the names of the
	// command's flags.
	Options []string

	Ordered bool // each ID of a generator is greater than the generator's ID before

	// Reserved reports that generators make no IDs of the first and of the last timestamp.
	Reserved bool

	Size    int // length of the binary form in bytes; 8 for integers
	Text    Text
	Columns []Column

	// Of returns the shape for the settings. Its errors are those of the format's own functions.
	Of func(Settings) (Shape, error)

	// Check returns an error for settings that can be read, and that no generator takes. A nil
	// Check means no such settings.
	Check func(Settings) error

	Codec
	New func(Recipe) (Generator, error)
}

// Default returns the shape for the default settings, which every format has.
func (f *Format) Default() Shape {
	s, err := f.Of(Settings{})
	if err != nil {
		panic(err)
	}
	return s
}

// Integer reports whether IDs are integers of 64 bits.
func (f *Format) Integer() bool { return f.Size == 8 }

// Has reports whether the format has an option.
func (f *Format) Has(option string) bool {
	return slices.Contains(f.Options, option)
}

// Text is the canonical text.
type Text struct {
	Digits   string // the characters in the order of their values
	AnyCase  bool   // letters of both cases are read
	Name     string // of the characters, in errors
	Least    int    // the fewest characters
	Most     int    // the most characters
	Largest  string // the largest text; "" if each text of the length is an ID
	HexToo   bool   // the binary form in hexadecimal is a text, too
	IsNumber bool   // JSON carries IDs as numbers
}

// Settings are what a reader of IDs has to know beside the ID. The zero Settings are the defaults of
// each format.
type Settings struct {
	Epoch time.Time // of formats with a choice; in whole milliseconds

	ClockBits, MachineBits int // of snowflakesi.Layout

	// CounterBits and NodeBits are ExtraCounterBits and NodeBits of scru160.Config, and Microseconds
	// is CounterMicroseconds.
	CounterBits, NodeBits int
	Microseconds          bool
}

// A Shape is the numbers of a format for one choice of settings.
type Shape struct {
	Fields   []Field       // from the most significant; the first is the timestamp
	Epoch    int64         // the time of timestamp 0, in Unix milliseconds
	Unit     time.Duration // the length of a tick, in whole milliseconds
	Worker   int           // the index of the worker's field; 0 if IDs have no worker
	Sequence int           // the index of the field that numbers the IDs of a tick
	Micro    int           // the index of a field with the microseconds of the tick, 0 to 999; 0 if there is none
	Meta     int           // the index of a field for a byte of the program's own; 0 if there is none

	Pool   string // the default name of the pool, for the default epoch
	Widths []int  // of the pool's layout; nil for those of the fields
}

// A Field is some bits of an ID.
type Field struct {
	Name  string
	Bits  int // 0 for a field that the settings leave out
	Shift int // the number of bits below

	// Random reports that the bits are random. The field of the sequence is random if the sequence of a
	// tick begins at a random number.
	Random bool
}

// Fields returns the fields of these names and widths, from the most significant.
func Fields(fields ...Field) []Field {
	shift := 0
	for i := len(fields) - 1; i >= 0; i-- {
		fields[i].Shift = shift
		shift += fields[i].Bits
	}
	return fields
}

// Of returns the value of a field of up to 56 bits.
func (f Field) Of(binary []byte) uint64 {
	if len(binary) == 8 { // the integers, which nearly all formats have
		return be.BigEndian.Uint64(binary) >> uint(f.Shift&63) & (1<<f.Bits - 1)
	}
	var v uint64
	end := 8*len(binary) - f.Shift
	for i := (end - f.Bits) / 8; 8*i < end; i++ {
		v = v<<8 | uint64(binary[i])
	}
	return v >> uint(-end&7) & (1<<f.Bits - 1)
}

// Bits returns the number of all bits of the fields.
func (s *Shape) Bits() int { return s.Fields[0].Shift + s.Fields[0].Bits }

// LastTimestamp returns the largest timestamp.
func (s *Shape) LastTimestamp() int64 { return 1<<s.Fields[0].Bits - 1 }

// LastWorker returns the largest number of a worker. ok is false if IDs have no worker.
func (s *Shape) LastWorker() (last int, ok bool) {
	if s.Worker == 0 {
		return 0, false
	}
	return 1<<s.Fields[s.Worker].Bits - 1, true
}

// Workers returns the number of workers, which is 1 for IDs without a worker.
func (s *Shape) Workers() int {
	last, _ := s.LastWorker()
	return last + 1
}

// Layout returns the layout of the pool of a format's workers.
func (s *Shape) Layout(format string) grant.Layout {
	widths := s.Widths
	if widths == nil {
		for _, f := range s.Fields {
			widths = append(widths, f.Bits)
		}
	}
	return grant.Layout{Format: format, Epoch: time.UnixMilli(s.Epoch).UTC(), Unit: s.Unit, Widths: widths, Workers: s.Workers()}
}

// Capacity returns how many IDs a worker can make in a tick.
func (s *Shape) Capacity() int { return 1 << s.Fields[s.Sequence].Bits }

// Time returns the time of an ID in UTC.
func (s *Shape) Time(binary []byte) time.Time {
	t := time.UnixMilli(s.Epoch + int64(s.Fields[0].Of(binary))*s.Unit.Milliseconds()).UTC()
	if s.Micro > 0 {
		t = t.Add(time.Duration(s.Fields[s.Micro].Of(binary)) * time.Microsecond)
	}
	return t
}

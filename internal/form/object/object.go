// Package object writes the JSON object of an ID, without reflection and without an allocation.
package object

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/shape"
)

// A Kind is what the objects of all IDs of a kind have in common. A Kind keeps the texts of the last second: IDs of a
// kind that follow each other are often of one second. A Kind is for one goroutine.
type Kind struct {
	head    string // of an object, up to the ID's text
	integer bool
	fields  []member
	parts   []Part

	second int64
	time   []byte // the member time of this second, up to the fraction
	unix   []byte // behind the fraction, up to the milliseconds
}

// A member is a field of the binary form.
type member struct {
	name string // with all that stands between the value before and the field's value
	shape.Field
}

// A Part is a field of an ID of characters.
type Part struct {
	Name     string
	From, To int // offsets in the text
}

// NewKind returns the Kind of a format, or of a kind of foreign IDs. IDs have fields of the binary form, or parts of
// the text. integer reports that the binary form is an integer of 64 bits. Names are plain ASCII without quotes.
func NewKind(name string, integer bool, fields []shape.Field, parts []Part) *Kind {
	k := &Kind{head: `{"format":"` + name + `","id":"`, integer: integer}
	for n, f := range fields {
		k.fields = append(k.fields, member{memberName(n, f.Name), f})
	}
	for n, p := range parts {
		k.parts = append(k.parts, Part{memberName(n, p.Name), p.From, p.To})
	}
	return k
}

// memberName returns the name of the n-th member, as the name stands in an object.
func memberName(n int, name string) string {
	name = `"` + name + `":`
	if n > 0 {
		name = "," + name
	}
	return name
}

// An ID is what is an ID's own in its object.
type ID struct {
	Text   []byte // canonical, of plain ASCII without quotes
	Binary []byte // nil for an ID of characters only
	Timed  bool   // the ID has a time
	Time   time.Time
}

// A Writer writes objects. The zero Writer is ready for use. A Writer is for one goroutine. Objects of the same integer
// that follow each other, as those of candidates do, share the work for the integer.
type Writer struct {
	integer uint64
	members []byte // int and hex of the integer; empty before the first integer
}

// Append appends the object of an ID to dst, with the members format, id, int, hex, time, unix_ms and fields, in this
// order. An ID without an integer, a binary form or a time has no such member. Without fields, fields is an
// empty object.
func (w *Writer) Append(dst []byte, k *Kind, id *ID) []byte {
	dst = append(append(append(dst, k.head...), id.Text...), '"')
	switch {
	case k.integer:
		w.set(id.Binary)
		dst = append(dst, w.members...)
	case id.Binary != nil:
		dst = appendHex(dst, id.Binary)
	}
	if id.Timed {
		dst = k.appendTime(dst, id.Time)
	}
	dst = append(dst, `,"fields":{`...)
	for n := range k.fields {
		f := &k.fields[n]
		dst = append(dst, f.name...)
		switch {
		case f.Bits > Exact:
			dst = append(f.Append(append(dst, '"'), id.Binary), '"')
		case k.integer:
			dst = strconv.AppendUint(dst, w.integer>>uint(f.Shift)&(1<<f.Bits-1), 10)
		default:
			dst = strconv.AppendUint(dst, f.Of(id.Binary), 10)
		}
	}
	for _, p := range k.parts {
		dst = append(append(append(append(dst, p.Name...), '"'), id.Text[p.From:p.To]...), '"')
	}
	return append(dst, "}}"...)
}

// Exact is the width of the widest field that is a number in JSON, in bits.
const Exact = 53

// set sets the integer and its members.
func (w *Writer) set(id []byte) {
	if v := binary.BigEndian.Uint64(id); v != w.integer || len(w.members) == 0 {
		w.integer = v
		w.members = append(strconv.AppendUint(append(w.members[:0], `,"int":"`...), v, 10), '"')
		w.members = appendHex(w.members, id)
	}
}

// appendHex appends the member hex.
func appendHex(dst, id []byte) []byte {
	return append(digits.AppendHex(append(dst, `,"hex":"`...), id), '"')
}

// appendTime is AppendTime with the texts of the last second. A time before the year 1970 or after 9999 takes the
// long way.
func (k *Kind) appendTime(dst []byte, t time.Time) []byte {
	const last = 253402300800 // the second after the year 9999
	second := t.Unix()
	if second <= 0 || second >= last {
		return AppendTime(dst, t)
	}
	if second != k.second {
		k.second = second
		k.time = t.UTC().AppendFormat(append(k.time[:0], `,"time":"`...), time.RFC3339)
		k.time = k.time[:len(k.time)-len("Z")]
		k.unix = strconv.AppendInt(append(k.unix[:0], `Z","unix_ms":`...), second, 10)
	}
	ns := uint32(t.Nanosecond())
	ms := [3]byte{'0' + byte(ns/1e8), '0' + byte(ns/1e7%10), '0' + byte(ns/1e6%10)}
	dst = append(append(append(dst, k.time...), '.'), ms[:]...)
	if below := ns % 1e6; below > 0 {
		for place := uint32(1e5); place > 0; place /= 10 {
			dst = append(dst, '0'+byte(below/place%10))
		}
	}
	dst = bytes.TrimSuffix(bytes.TrimRight(dst, "0"), []byte("."))
	return append(append(dst, k.unix...), ms[:]...)
}

// AppendTime appends the members time and unix_ms. RFC 3339 covers the years 0 to 9999, so time is null
// outside these years.
func AppendTime(dst []byte, t time.Time) []byte {
	if year := t.Year(); year < 0 || year > 9999 {
		dst = append(dst, `,"time":null`...)
	} else {
		dst = append(t.AppendFormat(append(dst, `,"time":"`...), time.RFC3339Nano), '"')
	}
	return strconv.AppendInt(append(dst, `,"unix_ms":`...), t.UnixMilli(), 10)
}

// Package object writes the JSON object of an ID, without reflection and without an allocation.
package object

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/shape"
)

// An ID is what the object of an ID has. Names and texts are plain ASCII without quotes.
type ID struct {
	Format string // or the name of a kind of foreign IDs
	Text   []byte // canonical
	Binary []byte // nil for an ID of characters only

	Integer bool // the binary form is an integer of 64 bits
	Timed   bool // the ID has a time
	Time    time.Time
	Fields  []shape.Field // of the binary form
	Parts   []Part        // of the text

	// IDs that follow each other are often of one second.
	second int64
	text   []byte // the members' beginning for this second, up to the seconds
}

// A Part is a field of an ID of characters.
type Part struct {
	Name     string
	From, To int // offsets in the text
}

// Append appends the object to dst, with the members format, id, int, hex, time, unix_ms and fields, in this
// order. An ID without an integer, a binary form or a time has no such member. Without fields, fields is an
// empty object.
func Append(dst []byte, id *ID) []byte {
	dst = append(append(append(dst, `{"format":"`...), id.Format...), `","id":"`...)
	dst = append(append(dst, id.Text...), '"')
	if id.Integer {
		dst = append(dst, `,"int":"`...)
		dst = append(strconv.AppendUint(dst, binary.BigEndian.Uint64(id.Binary), 10), '"')
	}
	if id.Binary != nil {
		dst = append(hex.AppendEncode(append(dst, `,"hex":"`...), id.Binary), '"')
	}
	if id.Timed {
		dst = id.appendTime(dst)
	}
	dst = append(dst, `,"fields":{`...)
	for n := range id.Fields {
		f := &id.Fields[n]
		dst = appendName(dst, n, f.Name)
		if f.Bits > Exact {
			dst = append(f.Append(append(dst, '"'), id.Binary), '"')
		} else {
			dst = strconv.AppendUint(dst, f.Of(id.Binary), 10)
		}
	}
	for n, p := range id.Parts {
		dst = append(append(append(appendName(dst, n, p.Name), '"'), id.Text[p.From:p.To]...), '"')
	}
	return append(dst, "}}"...)
}

// Exact is the width of the widest field that is a number in JSON, in bits.
const Exact = 53

// appendName appends the name of the n-th member.
func appendName(dst []byte, n int, name string) []byte {
	if n > 0 {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), `":`...)
}

// appendTime is AppendTime with the text of the last second. A time before the year 1970 or after 9999 takes the
// long way.
func (id *ID) appendTime(dst []byte) []byte {
	const last = 253402300800 // the second after the year 9999
	second, ms := id.Time.Unix(), id.Time.UnixMilli()
	if second <= 0 || second >= last {
		return AppendTime(dst, id.Time)
	}
	if second != id.second {
		id.second = second
		id.text = id.Time.UTC().AppendFormat(append(id.text[:0], `,"time":"`...), "2006-01-02T15:04:05")
	}
	dst = append(dst, id.text...)
	if ns := uint32(id.Time.Nanosecond()); ns > 0 {
		digits := [10]byte{'.'}
		for i := len(digits) - 1; i > 0; i-- {
			digits[i] = '0' + byte(ns%10)
			ns /= 10
		}
		end := len(digits)
		for digits[end-1] == '0' {
			end--
		}
		dst = append(dst, digits[:end]...)
	}
	return strconv.AppendInt(append(dst, `Z","unix_ms":`...), ms, 10)
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

package inspect

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/form/object"
	"github.com/firn-id/firn/internal/shape"
)

// A Reader reads many IDs of a format, with the same settings. A Reader gives the answers of [Format.Read]
// and [Info.MarshalJSON], and allocates nothing for them. A Reader is for one goroutine.
//
// Methods with an error refuse an ID that has not the size of the format's binary form. The other methods panic if
// the ID is shorter.
type Reader struct {
	format  Format
	shape   shape.Shape
	parse   func(dst, text []byte) ([]byte, error)
	write   func(dst, id []byte) ([]byte, error)
	letters [256]bool // the alphabet of the text
	grown   int64     // the first timestamp that is not young
	room    []byte
	objects object.Writer
	kind    *object.Kind
}

// NewReader returns a Reader. The error is that of the format's own functions, for settings that the format
// does not have.
func (f Format) NewReader(set Settings) (*Reader, error) {
	if f.of == nil {
		return nil, errZeroFormat
	}
	s, err := f.of.Of(shape.Settings(set))
	if err != nil {
		return nil, err
	}
	r := &Reader{format: f, shape: s, parse: f.of.Reader(), write: f.of.Writer(),
		kind: object.NewKind(f.of.Name, f.of.Integer(), s.Fields, nil)}
	if set.Epoch.IsZero() {
		r.grown = young * 24 * int64(time.Hour/s.Unit)
	}
	for _, c := range []byte(f.of.Text.Digits) {
		r.letters[c] = true
		if f.of.Text.AnyCase {
			r.letters[lower(c)], r.letters[upper(c)] = true, true
		}
	}
	return r, nil
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

var errZeroFormat = errors.New("firn: the zero Format reads no ID")

// Format returns the format of the IDs.
func (r *Reader) Format() Format { return r.format }

// Shape describes the IDs to Firn's own tools. Do not change what it returns.
func (r *Reader) Shape() *shape.Shape { return &r.shape }

// Kind describes the JSON objects of the IDs to Firn's own tools. Use the Kind in the goroutine of the Reader alone.
func (r *Reader) Kind() *object.Kind { return r.kind }

// AppendRead reads an ID in any form, as [Format.Read] does, and appends the binary form to dst.
func (r *Reader) AppendRead(dst, s []byte) ([]byte, error) {
	if ids := r.AppendReadings(dst, s); len(ids) > len(dst) {
		return ids[:len(dst)+r.format.of.Size], nil
	}
	hexDigits, ok := r.behind0x(s)
	if !ok {
		hexDigits = s
	}
	var first error
	for _, try := range []struct {
		form Form
		text []byte
	}{{Text, s}, {Int, s}, {Hex, hexDigits}} {
		_, err := r.AppendReadAs(nil, try.text, try.form)
		if errors.Is(err, iderr.ErrRange) {
			return dst, err
		}
		if first == nil {
			first = err
		}
	}
	return dst, first
}

// AppendReadings appends the binary form of each ID that s can be. Each ID has the size of the format's binary
// form. An s with the length and the alphabet of the canonical text can be the text alone, but canonical decimals
// have no leading zeros. Any other s of 16 decimal digits, for one, can be a decimal, and hex.
func (r *Reader) AppendReadings(dst, s []byte) []byte {
	d := r.format.of
	if r.isText(s) {
		ids, err := r.parse(dst, s)
		if err != nil || r.check(ids[len(dst):]) != nil {
			return dst
		}
		if d.Text.Least < d.Text.Most && s[0] == '0' { // no canonical text
			return r.appendHex(ids, s)
		}
		return ids
	}
	if d.Text.Digits != decimalDigits {
		dst = r.appendDecimal(dst, s)
	}
	if text, ok := r.behind0x(s); ok {
		return r.appendHex(dst, text)
	}
	switch {
	case len(s) == 2*d.Size:
		return r.appendHex(dst, s)
	case d.UUID != nil && (len(s) == uuidLength && s[8] == '-' || len(s) == uuidDigits && isHex(s)):
		if id, err := d.UUID(string(hyphened(s))); err == nil {
			dst = append(dst, id...)
		}
	}
	return dst
}

// behind0x returns the digits behind 0x, with the leading zeros that programs leave out of integers. The digits are
// valid until the next call.
func (r *Reader) behind0x(s []byte) (text []byte, ok bool) {
	if len(s) <= 2 || s[0] != '0' || lower(s[1]) != 'x' {
		return nil, false
	}
	const zeros = "0000000000000000"
	if text = s[2:]; r.format.of.Integer() && len(text) < len(zeros) {
		r.room = append(append(r.room[:0], zeros[len(text):]...), text...)
		text = r.room
	}
	return text, true
}

// AppendReadAs reads an ID in a form, as [Format.Inspect] does, and appends the binary form to dst.
func (r *Reader) AppendReadAs(dst, s []byte, form Form) ([]byte, error) {
	if ids := r.appendForm(dst, s, form); len(ids) > len(dst) {
		return ids, nil
	}
	read := r.format.reader(form)
	if read == nil {
		return dst, r.format.noForm(form)
	}
	id, err := read(string(s))
	if err == nil {
		err = r.check(id)
	}
	if err != nil {
		return dst, err
	}
	return append(dst, id...), nil
}

// appendForm appends the ID that s is in a form. If appendForm appends nothing, s may still be an ID.
func (r *Reader) appendForm(dst, s []byte, form Form) []byte {
	switch {
	case form == Text || form == Int && r.format.of.Text.Digits == decimalDigits:
		if ids, err := r.parse(dst, s); err == nil && r.check(ids[len(dst):]) == nil {
			return ids
		}
	case form == Int:
		return r.appendDecimal(dst, s)
	case form == Hex:
		return r.appendHex(dst, s)
	}
	return dst
}

// appendDecimal appends the ID of decimal digits, if they are an ID.
func (r *Reader) appendDecimal(dst, s []byte) []byte {
	if v, ok := decimal(s); ok && r.format.of.Integer() && v>>r.shape.Bits() == 0 {
		return binary.BigEndian.AppendUint64(dst, v)
	}
	return dst
}

// isText reports whether s has the length and the alphabet of a canonical text.
func (r *Reader) isText(s []byte) bool {
	t := &r.format.of.Text
	if len(s) < t.Least || len(s) > t.Most {
		return false
	}
	for _, c := range s {
		if !r.letters[c] {
			return false
		}
	}
	return true
}

// appendHex appends the ID of hexadecimal digits, if they are an ID.
func (r *Reader) appendHex(dst, text []byte) []byte {
	d := r.format.of
	if len(text) != 2*d.Size {
		return dst
	}
	ids := append(dst, make([]byte, d.Size)...)
	id := ids[len(dst):]
	if digits.Hex(id, text) >= 0 {
		return dst
	}
	if d.Integer() && binary.BigEndian.Uint64(id)>>r.shape.Bits() != 0 || r.check(id) != nil {
		return dst
	}
	return ids
}

// decimalDigits are the digits of a text that is the decimal.
const decimalDigits = "0123456789"

// decimal returns the value of decimal digits of at most 63 bits.
func decimal(s []byte) (v uint64, ok bool) {
	const most = 19 // digits
	if len(s) == 0 || len(s) > most {
		return 0, false
	}
	v, _, ok = digits.Decimal(s)
	return v, ok && v <= math.MaxInt64
}

// The lengths of a UUID's text, with hyphens and without.
const (
	uuidLength = 36
	uuidDigits = 32
)

// isHex reports whether s is hexadecimal digits.
func isHex(s []byte) bool {
	for _, c := range s {
		if c = lower(c); (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// hyphened returns the text of a UUID, from the text or from the digits.
func hyphened(s []byte) []byte {
	if len(s) != uuidDigits {
		return s
	}
	return fmt.Appendf(nil, "%s-%s-%s-%s-%s", s[:8], s[8:12], s[12:16], s[16:20], s[20:])
}

// check returns the error of an ID that no generator with the settings has made.
func (r *Reader) check(id []byte) error {
	i := r.shape.Micro
	if i == 0 {
		return nil
	}
	micro := r.shape.Fields[i].Of(id)
	if micro <= 999 {
		return nil
	}
	text, err := r.format.of.AppendText(nil, id)
	if err != nil {
		return err
	}
	return &iderr.ParseError{Format: r.format.of.Name, Input: string(text), Offset: -1, Err: iderr.ErrRange,
		Reason: fmt.Sprintf("the counter says %d microseconds, which is not in 0 to 999: the generator of the ID counts no microseconds", micro)}
}

// Time returns the time of an ID in the binary form, in UTC.
func (r *Reader) Time(id []byte) time.Time { return r.shape.Time(id) }

// AppendText appends the canonical text of an ID in the binary form.
func (r *Reader) AppendText(dst, id []byte) ([]byte, error) { return r.write(dst, id) }

// AppendJSON appends the JSON object of an ID in the binary form, as [Info.MarshalJSON] writes the object.
func (r *Reader) AppendJSON(dst, id []byte) ([]byte, error) {
	text, err := r.write(r.room[:0], id)
	if err == nil {
		r.room = text
		err = r.check(id)
	}
	if err != nil {
		return dst, err
	}
	return r.objects.Append(dst, r.kind, &object.ID{Text: text, Binary: id, Timed: true, Time: r.shape.Time(id)}), nil
}

// Info takes apart an ID in the binary form. With an error, the Info has the Format alone.
func (r *Reader) Info(id []byte) (Info, error) {
	text, err := r.format.of.AppendText(nil, id)
	if err == nil {
		err = r.check(id)
	}
	if err != nil {
		return Info{Format: r.format}, err
	}
	info := Info{Format: r.format, ID: string(text), Hex: hex.EncodeToString(id), Time: r.shape.Time(id)}
	if r.format.of.Integer() {
		info.Int = strconv.FormatUint(binary.BigEndian.Uint64(id), 10)
	}
	for _, f := range r.shape.Fields {
		info.Fields = append(info.Fields, Field{Name: f.Name, Bits: f.Bits, Value: string(f.Append(nil, id)), Quoted: f.Bits > object.Exact})
	}
	return info, nil
}

// Package call has codecs that do nothing but call assembly, which copies: what one ID takes to
// write or to read at least, if it is a function of vectors that does it. The compiler has Go's functions
// inlined, but passes arguments to assembly in memory, and makes the copy of an ID that a method's receiver is.
//
// They have the shape of those of the formats, so what these take more is the work itself.
package call

import "errors"

// The values have as many bytes as a sno, an integer such as a Ulid-Flake, and a SCRU160. Their texts
// have as many characters.
type (
	Bytes10 [10]byte
	Integer int64
	Bytes20 [20]byte
)

var errLength = errors.New("not as long as a text")

const blank = "                                "

// AppendText appends 16 bytes, of which the first 10 are the value.
func (v Bytes10) AppendText(dst []byte) ([]byte, error) {
	dst = append(dst, blank[:16]...)
	write10(dst, (*[10]byte)(&v))
	return dst, nil
}

// String returns what AppendText appends.
func (v Bytes10) String() string {
	var b [16]byte
	text, _ := v.AppendText(b[:0])
	return string(text)
}

// ParseBytes10 reads what AppendText writes.
func ParseBytes10(s string) (v Bytes10, err error) { err = v.read(s); return v, err }

func (v *Bytes10) read(s string) error {
	if read10((*[10]byte)(v), s) {
		return nil
	}
	return errLength
}

// AppendText appends 13 bytes, of which the first 8 are the value.
func (v Integer) AppendText(dst []byte) ([]byte, error) {
	dst = append(dst, blank[:13]...)
	write8(dst, uint64(v))
	return dst, nil
}

// String returns what AppendText appends.
func (v Integer) String() string {
	var b [13]byte
	text, _ := v.AppendText(b[:0])
	return string(text)
}

// ParseInteger reads what AppendText writes.
func ParseInteger(s string) (Integer, error) {
	if v := read8(s); v >= 0 {
		return Integer(v), nil
	}
	return 0, errLength
}

// AppendText appends 32 bytes, of which the first 20 are the value.
func (v Bytes20) AppendText(dst []byte) ([]byte, error) {
	dst = append(dst, blank[:32]...)
	write20(dst, (*[20]byte)(&v))
	return dst, nil
}

// String returns what AppendText appends.
func (v Bytes20) String() string {
	var b [32]byte
	text, _ := v.AppendText(b[:0])
	return string(text)
}

// ParseBytes20 reads what AppendText writes.
func ParseBytes20(s string) (v Bytes20, err error) { err = v.read(s); return v, err }

func (v *Bytes20) read(s string) error {
	if read20((*[20]byte)(v), s) {
		return nil
	}
	return errLength
}

// Package call has codecs that only call assembly, and the assembly only copies. Their time is a lower
// bound for a codec with vectors and one ID: the compiler inlines the Go functions, but passes arguments
// to assembly in memory, and copies the receiver of a method.
//
// The codecs have the shape of the formats' codecs: the difference in time is the work of the formats.
package call

import "errors"

// The values have the sizes of a sno, of an integer such as a Ulid-Flake, and of a SCRU160. The texts
// have the lengths of their texts.
type (
	Bytes10 [10]byte
	Integer int64
	Bytes20 [20]byte
)

var errLength = errors.New("not as long as a text")

const blank = "                                "

// AppendText appends 16 bytes, the first 10 of them the value.
func (v Bytes10) AppendText(dst []byte) ([]byte, error) {
	dst = append(dst, blank[:16]...)
	write10(dst, (*[10]byte)(&v))
	return dst, nil
}

// String returns the text of AppendText.
func (v Bytes10) String() string {
	var b [16]byte
	text, _ := v.AppendText(b[:0])
	return string(text)
}

// ParseBytes10 reads the text of AppendText.
func ParseBytes10(s string) (v Bytes10, err error) { err = v.read(s); return v, err }

func (v *Bytes10) read(s string) error {
	if read10((*[10]byte)(v), s) {
		return nil
	}
	return errLength
}

// AppendText appends 13 bytes, the first 8 of them the value.
func (v Integer) AppendText(dst []byte) ([]byte, error) {
	dst = append(dst, blank[:13]...)
	write8(dst, uint64(v))
	return dst, nil
}

// String returns the text of AppendText.
func (v Integer) String() string {
	var b [13]byte
	text, _ := v.AppendText(b[:0])
	return string(text)
}

// ParseInteger reads the text of AppendText.
func ParseInteger(s string) (Integer, error) {
	if v := read8(s); v >= 0 {
		return Integer(v), nil
	}
	return 0, errLength
}

// AppendText appends 32 bytes, the first 20 of them the value.
func (v Bytes20) AppendText(dst []byte) ([]byte, error) {
	dst = append(dst, blank[:32]...)
	write20(dst, (*[20]byte)(&v))
	return dst, nil
}

// String returns the text of AppendText.
func (v Bytes20) String() string {
	var b [32]byte
	text, _ := v.AppendText(b[:0])
	return string(text)
}

// ParseBytes20 reads the text of AppendText.
func ParseBytes20(s string) (v Bytes20, err error) { err = v.read(s); return v, err }

func (v *Bytes20) read(s string) error {
	if read20((*[20]byte)(v), s) {
		return nil
	}
	return errLength
}

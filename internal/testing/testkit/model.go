package testkit

import (
	"math/big"
	"strings"
)

// A Kind is the kind of an input's fault; "" means no fault.
type Kind string

const (
	Fine      Kind = ""
	Length    Kind = "length"
	Character Kind = "character"
	Range     Kind = "range"
	Type      Kind = "type"
	NoID      Kind = "no ID"
)

// A Refusal is the expected error of a decoder. Offset is -1 if the fault is not in one place.
type Refusal struct {
	Kind   Kind
	Offset int
}

// accepted is the Refusal of a valid input.
var accepted = Refusal{Fine, -1}

// An Encoding is a positional notation: the value is the sum of digits times powers of the
// alphabet's length.
type Encoding struct {
	Alphabet string // digits in the order of their values, in the case for writing
	Fold     bool   // the other case is valid for reading
	Min, Max int    // bounds of the length for reading
	Pad      int    // least length for writing
}

// The alphabets of the specifications.
const (
	decimalAlphabet   = "0123456789"
	hexAlphabet       = "0123456789abcdef"
	base36Alphabet    = "0123456789abcdefghijklmnopqrstuvwxyz"
	crockfordAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	base32hexAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
	snoAlphabet       = "23456789abcdefghijklmnopqrstuvwx"
)

func (e Encoding) base() *big.Int { return big.NewInt(int64(len(e.Alphabet))) }

// digit returns the value of the character c, or -1 for a foreign character.
func (e Encoding) digit(c byte) int {
	for v := range len(e.Alphabet) {
		if c == e.Alphabet[v] || e.Fold && strings.EqualFold(string(rune(c)), e.Alphabet[v:v+1]) && c < 0x80 {
			return v
		}
	}
	return -1
}

// Decode reads s. The value must not be above limit.
func (e Encoding) Decode(s string, limit *big.Int) (*big.Int, Refusal) {
	if len(s) < e.Min || len(s) > e.Max {
		return nil, Refusal{Length, -1}
	}
	sum := new(big.Int)
	for i := range len(s) {
		d := e.digit(s[i])
		if d < 0 {
			return nil, Refusal{Character, i}
		}
		weight := new(big.Int).Exp(e.base(), big.NewInt(int64(len(s)-1-i)), nil)
		sum.Add(sum, weight.Mul(weight, big.NewInt(int64(d))))
	}
	if sum.Cmp(limit) > 0 {
		return nil, Refusal{Range, -1}
	}
	return sum, accepted
}

// Encode writes v. v must not be negative.
func (e Encoding) Encode(v *big.Int) string {
	text := ""
	rest, digit := new(big.Int).Set(v), new(big.Int)
	for rest.Sign() > 0 || len(text) < max(e.Pad, 1) {
		rest.DivMod(rest, e.base(), digit)
		text = e.Alphabet[digit.Int64():digit.Int64()+1] + text
	}
	return text
}

// A Model is a format: a range of integers and the ways to write one.
type Model struct {
	Name    string
	Bits    int        // number of bits of the largest value, all set
	Bytes   int        // length of the binary form, big-endian
	Texts   []Encoding // the canonical text, and other texts of other lengths for Parse
	Loose   *Encoding  // the text of other implementations, for ParseBase36; nil if they write the canonical text
	Decimal *Encoding  // nil for a format that is not an integer to its users
	Hex     Encoding
	Number  bool // JSON carries IDs as numbers
}

func fixed(alphabet string, fold bool, n int) Encoding {
	return Encoding{Alphabet: alphabet, Fold: fold, Min: n, Max: n, Pad: n}
}

func decimal(most int) Encoding { return Encoding{Alphabet: decimalAlphabet, Min: 1, Max: most} }

func decimal64() *Encoding {
	d := decimal(19)
	return &d
}

// The formats.
var (
	Nanoflake = Model{Name: "nanoflake", Bits: 63, Bytes: 8, Decimal: decimal64(),
		Texts: []Encoding{fixed(base36Alphabet, true, 13)},
		Loose: &Encoding{Alphabet: base36Alphabet, Fold: true, Min: 1, Max: 13},
		Hex:   fixed(hexAlphabet, true, 16)}

	UlidFlake = Model{Name: "ulidflake", Bits: 63, Bytes: 8, Decimal: decimal64(),
		Texts: []Encoding{fixed(crockfordAlphabet, true, 13)},
		Hex:   fixed(hexAlphabet, true, 16)}

	UlidFlakeScalable = Model{Name: "ulidflake-scalable", Bits: 63, Bytes: 8, Decimal: UlidFlake.Decimal,
		Texts: UlidFlake.Texts, Hex: UlidFlake.Hex}

	SnowflakeSI = Model{Name: "snowflakesi", Bits: 53, Bytes: 8, Number: true,
		Texts: []Encoding{decimal(16)}, Decimal: &[]Encoding{decimal(16)}[0],
		Hex: fixed(hexAlphabet, true, 16)}

	SCRU160 = Model{Name: "scru160", Bits: 160, Bytes: 20,
		Texts: []Encoding{fixed(base32hexAlphabet, true, 32), fixed(hexAlphabet, true, 40)},
		Hex:   fixed(hexAlphabet, true, 40)}

	Sno = Model{Name: "sno", Bits: 80, Bytes: 10,
		Texts: []Encoding{fixed(snoAlphabet, false, 16)},
		Hex:   fixed(hexAlphabet, true, 20)}
)

// Max returns the largest value.
func (m Model) Max() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(1), uint(m.Bits))
	return v.Sub(v, big.NewInt(1))
}

// Parse reads any of the texts.
func (m Model) Parse(s string) (*big.Int, Refusal) {
	for _, e := range m.Texts {
		if e.Min <= len(s) && len(s) <= e.Max {
			return e.Decode(s, m.Max())
		}
	}
	return nil, Refusal{Length, -1}
}

// Text writes the canonical text.
func (m Model) Text(v *big.Int) string { return m.Texts[0].Encode(v) }

// Read decodes by an encoding other than the text.
func (m Model) Read(e Encoding, s string) (*big.Int, Refusal) { return e.Decode(s, m.Max()) }

// Binary reads the binary form.
func (m Model) Binary(b []byte) (*big.Int, Refusal) {
	if len(b) != m.Bytes {
		return nil, Refusal{Length, -1}
	}
	v := new(big.Int)
	for _, c := range b {
		v.Mul(v, big.NewInt(256))
		v.Add(v, big.NewInt(int64(c)))
	}
	if v.Cmp(m.Max()) > 0 {
		return nil, Refusal{Range, -1}
	}
	return v, accepted
}

// Join joins fields of the given widths.
func Join(fields []*big.Int, widths ...int) *big.Int {
	v := new(big.Int)
	for i, f := range fields {
		v.Mul(v, new(big.Int).Exp(big.NewInt(2), big.NewInt(int64(widths[i])), nil))
		v.Add(v, f)
	}
	return v
}

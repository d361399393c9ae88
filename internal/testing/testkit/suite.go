package testkit

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/iderr"
)

// ID has the methods of the IDs of all formats.
type ID[T any] interface {
	comparable
	fmt.Stringer
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.BinaryAppender
	encoding.BinaryMarshaler
	json.Marshaler
	driver.Valuer
	Compare(T) int
	IsZero() bool
	Hex() string
}

// Pointer has the methods of pointers to IDs.
type Pointer[T any] interface {
	*T
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	sql.Scanner
}

// A Suite is an ID type with the functions of its package, and the model to compare with.
type Suite[T ID[T], P Pointer[T]] struct {
	Model Model

	Value func(T) *big.Int // the ID's integer, without functions under test
	Make  func(*big.Int) T // the ID of an integer, without a check

	Parse        func(string) (T, error)
	MustParse    func(string) T
	ParseDecimal func(string) (T, error) // nil if the package has none
	ParseBase36  func(string) (T, error) // nil likewise
	Decimal      func(T) string          // nil likewise
	FromInt64    func(int64) (T, error)  // nil likewise
	ParseHex     func(string) (T, error)
	FromBytes    func([]byte) (T, error)

	More  map[string]func(string) (T, error) // more functions that read a text
	Sized func(error) (size int, wrong bool) // the size in the format's own error for a wrong length; nil if it has none
}

// OfInt64 sets the fields that are the same for all formats of integers.
func OfInt64[T interface {
	~int64
	ID[T]
}, P Pointer[T]](s Suite[T, P]) Suite[T, P] {
	s.Value = func(id T) *big.Int { return big.NewInt(int64(id)) }
	s.Make = func(v *big.Int) T { return T(v.Int64()) }
	return s
}

// Samples returns integers of the format: the bounds, powers of two and their neighbours, and
// random integers of all lengths, the same in each run.
func (s Suite[T, P]) Samples() []*big.Int {
	limit := s.Model.Max()
	var all []*big.Int
	add := func(v *big.Int) {
		if v.Sign() >= 0 && v.Cmp(limit) <= 0 {
			all = append(all, v)
		}
	}
	for bit := range s.Model.Bits + 1 {
		for d := int64(-1); d <= 1; d++ {
			v := new(big.Int).Lsh(big.NewInt(1), uint(bit))
			add(v.Add(v, big.NewInt(d)))
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		v := new(big.Int)
		for range 3 {
			v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(random.Uint64()))
		}
		add(v.Rsh(v, uint(192-s.Model.Bits+i%4*random.IntN(s.Model.Bits)/3)))
	}
	return all
}

// reader is one of the ways to read an ID.
type reader[T any] struct {
	name string
	read func(input string, dst *T) error
}

func readWith[T any](f func(string) (T, error)) func(string, *T) error {
	return func(input string, dst *T) error {
		id, err := f(input)
		if err == nil {
			*dst = id
			return nil
		}
		if zero := *new(T); any(id) != any(zero) {
			return fmt.Errorf("an ID beside the error: %v", id)
		}
		return err
	}
}

// texts are the ways to read a text.
func (s Suite[T, P]) texts() []reader[T] {
	var more []reader[T]
	for name, read := range s.More {
		more = append(more, reader[T]{name, readWith(read)})
	}
	return append(more, []reader[T]{
		{"Parse", readWith(s.Parse)},
		{"MustParse", func(input string, dst *T) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = p.(error)
				}
			}()
			*dst = s.MustParse(input)
			return nil
		}},
		{"UnmarshalText", func(input string, dst *T) error { return P(dst).UnmarshalText([]byte(input)) }},
		{"UnmarshalJSON", func(input string, dst *T) error {
			text, err := json.Marshal(input)
			var back string
			if err != nil || json.Unmarshal(text, &back) != nil || back != input {
				return P(dst).UnmarshalText([]byte(input)) // JSON cannot carry this input
			}
			return P(dst).UnmarshalJSON(text)
		}},
		{"UnmarshalJSON with escapes", func(input string, dst *T) error {
			text := []byte{'"'}
			for _, r := range input {
				if r == 0xfffd || r > 0xffff {
					return P(dst).UnmarshalText([]byte(input))
				}
				text = fmt.Appendf(text, `\u%04x`, r)
			}
			return P(dst).UnmarshalJSON(append(text, '"'))
		}},
	}...)
}

// readers are the ways to read an input of the given form.
func (s Suite[T, P]) readers(form string) []reader[T] {
	switch form {
	case "text":
		return s.texts()
	case "decimal":
		if s.ParseDecimal == nil {
			return nil
		}
		return []reader[T]{{"ParseDecimal", readWith(s.ParseDecimal)}}
	case "base36":
		if s.ParseBase36 == nil {
			return nil
		}
		return []reader[T]{{"ParseBase36", readWith(s.ParseBase36)}}
	case "hex":
		return []reader[T]{{"ParseHex", readWith(s.ParseHex)}}
	case "binary":
		return []reader[T]{
			{"FromBytes", readWith(func(b string) (T, error) { return s.FromBytes([]byte(b)) })},
			{"UnmarshalBinary", func(b string, dst *T) error { return P(dst).UnmarshalBinary([]byte(b)) }},
		}
	}
	panic("no form " + form)
}

// model reads an input of the given form by the reference model.
func (s Suite[T, P]) model(form, input string) (*big.Int, Refusal) {
	switch form {
	case "text":
		return s.Model.Parse(input)
	case "decimal":
		return s.Model.Read(*s.Model.Decimal, input)
	case "base36":
		return s.Model.Read(*s.Model.Loose, input)
	case "hex":
		return s.Model.Read(s.Model.Hex, input)
	case "binary":
		return s.Model.Binary([]byte(input))
	}
	panic("no form " + form)
}

// Check reads the input in all ways of its form and compares with the model. It returns the model's
// verdict.
func (s Suite[T, P]) Check(t testing.TB, form, input string) (*big.Int, Refusal) {
	t.Helper()
	want, refusal := s.model(form, input)
	for _, r := range s.readers(form) {
		if refusal.Kind == Fine {
			s.accepts(t, r, input, want)
		} else {
			s.refuses(t, r, input, refusal)
		}
	}
	return want, refusal
}

func (s Suite[T, P]) accepts(t testing.TB, r reader[T], input string, want *big.Int) {
	t.Helper()
	var id T
	if err := r.read(input, &id); err != nil {
		t.Errorf("%s %s(%q): %v", s.Model.Name, r.name, clip(input), err)
	} else if s.Value(id).Cmp(want) != 0 {
		t.Errorf("%s %s(%q) = %v, want %v", s.Model.Name, r.name, clip(input), s.Value(id), want)
	}
}

// refuses checks that a reader returns the expected error, and leaves its destination unchanged.
func (s Suite[T, P]) refuses(t testing.TB, r reader[T], input string, want Refusal) {
	t.Helper()
	before := s.Make(big.NewInt(424242))
	id := before
	err := r.read(input, &id)
	if fault := s.fault(err, input, want); fault != "" {
		t.Errorf("%s %s(%q) %s", s.Model.Name, r.name, clip(input), fault)
	}
	if id != before {
		t.Errorf("%s %s(%q) gave an error but set the ID to %v", s.Model.Name, r.name, clip(input), id)
	}
}

// fault is Fault, also for a format with an error of its own for a wrong length.
func (s Suite[T, P]) fault(err error, input string, want Refusal) string {
	if s.Sized == nil || want.Kind != Length {
		return Fault(err, s.Model.Name, input, want)
	}
	if size, ok := s.Sized(err); !ok || size != len(input) || !errors.Is(err, iderr.ErrLength) {
		return fmt.Sprintf("gave %v, want the size %d", err, len(input))
	}
	return ""
}

// sentinels are the errors of each kind.
var sentinels = map[Kind]error{
	Length: iderr.ErrLength, Character: iderr.ErrCharacter, Range: iderr.ErrRange, Type: iderr.ErrType, NoID: iderr.ErrNoID,
}

// Fault returns the difference between an error and the expected refusal of the input, in words, or
// "".
func Fault(err error, format, input string, want Refusal) string {
	if err == nil {
		return fmt.Sprintf("gave no error, want %s", want.Kind)
	}
	for kind, sentinel := range sentinels {
		if errors.Is(err, sentinel) != (kind == want.Kind) {
			return fmt.Sprintf("gave %q, want %s", err, want.Kind)
		}
	}
	e, ok := errors.AsType[*iderr.ParseError](err)
	switch {
	case !ok:
		return fmt.Sprintf("gave %T, no *ParseError", err)
	case e.Format != format:
		return fmt.Sprintf("gave the error of %q", e.Format)
	case e.Offset != want.Offset:
		return fmt.Sprintf("gave %q, offset %d, want %d", err, e.Offset, want.Offset)
	case want.Kind != Type && input != "" && !bytes.HasPrefix([]byte(input), []byte(e.Input)):
		return fmt.Sprintf("gave the input as %q", e.Input)
	case want.Kind != Type && len(e.Input) != min(len(input), 64):
		return fmt.Sprintf("keeps %d bytes of the input", len(e.Input))
	case len(err.Error()) > 500:
		return fmt.Sprintf("has a message of %d bytes", len(err.Error()))
	}
	return ""
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}

package typed

import (
	"bytes"
	"errors"
	"path"
	"reflect"
	"strconv"
	"strings"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/prefix"
	"github.com/firn-id/firn/internal/form/wrong"
)

// A prefixer is a kind whose texts have a prefix.
type prefixer interface{ IDPrefix() string }

// Prefix returns the prefix of the texts of kind K, or "" if K has no method IDPrefix. A bad
// prefix is a *[iderr.ConfigError], also from each method with an error that writes or reads a
// text. A test of a program calls Prefix for each kind, and finds a bad prefix before users do.
func Prefix[K any]() (string, error) {
	// A *K has the methods of K. The look at *K spares a large kind without a prefix the copy.
	if _, ok := any((*K)(nil)).(prefixer); !ok {
		return "", nil
	}
	var kind K
	p, ok := any(kind).(prefixer)
	if !ok {
		return "", badKind[K]("a method of a pointer", "a method of the value: write func (K), and not func (*K)")
	}
	text := p.IDPrefix()
	if !prefix.Valid(text) {
		return "", badKind[K](wrong.Clip(text), "1 to 63 lower-case letters, digits and underscores, with a letter first and no underscore last")
	}
	return text, nil
}

func badKind[K any](value, want string) error {
	return wrong.Config("typed", "IDPrefix of "+reflect.TypeFor[K]().String(), value, want)
}

// String returns the text: the prefix of the kind and "_", if the kind has a prefix, and the text
// of the plain ID. Texts of a kind sort as the IDs do. If the prefix is bad, no decoder reads the
// result.
func (id ID[T, K]) String() string {
	prefix, err := Prefix[K]()
	switch {
	case err != nil:
		return "typed(" + id.Plain().String() + ")"
	case prefix == "":
		return id.Plain().String()
	}
	return prefix + "_" + id.Plain().String()
}

// AppendText implements [encoding.TextAppender] by the text of String. It does not allocate if dst
// has room for the text.
func (id ID[T, K]) AppendText(dst []byte) ([]byte, error) {
	prefix, err := Prefix[K]()
	if err != nil {
		return dst, err
	}
	text := dst
	if prefix != "" {
		text = append(append(text, prefix...), '_')
	}
	if text, err = id.Plain().AppendText(text); err != nil {
		return dst, err
	}
	return text, nil
}

// MarshalText implements [encoding.TextMarshaler] by the text of String.
func (id ID[T, K]) MarshalText() ([]byte, error) {
	prefix, err := Prefix[K]()
	switch {
	case err != nil:
		return nil, err
	case prefix == "":
		return id.Plain().MarshalText()
	}
	return id.text("", prefix)
}

// text returns quote, the prefix and the text of the plain ID, with room for another quote.
func (id ID[T, K]) text(quote, prefix string) ([]byte, error) {
	const longest = 32 // digits of the plain ID, in all formats
	b := make([]byte, 0, len(quote)+len(prefix)+len("_")+longest+len(quote))
	b, err := id.Plain().AppendText(append(append(append(b, quote...), prefix...), '_'))
	if err != nil {
		return nil, err
	}
	return b, nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the prefix and a text that the
// plain ID reads. A text with another prefix, with the prefix in another case or without the prefix
// is a *[iderr.ParseError], which names the prefix. An error leaves id unchanged, or as T leaves
// it.
func (id *ID[T, K]) UnmarshalText(text []byte) error {
	prefix, err := Prefix[K]()
	if err != nil {
		return err
	}
	return id.read(prefix, text)
}

func (id *ID[T, K]) read(prefix string, text []byte) error {
	if prefix == "" {
		return id.reader().UnmarshalText(text)
	}
	n := len(prefix)
	if len(text) <= n || string(text[:n]) != prefix || text[n] != '_' {
		return noPrefix(formatOf[T](), prefix+"_", text)
	}
	if err := id.reader().UnmarshalText(text[n+1:]); err != nil {
		return afterPrefix(formatOf[T](), prefix+"_", text, err)
	}
	return nil
}

// parse is UnmarshalText under a name that only this package has, for the constraint of Parse.
func (id *ID[T, K]) parse(text []byte) error { return id.UnmarshalText(text) }

// MarshalJSON implements [json.Marshaler]: null for the zero ID, the text as a string for a kind
// with a prefix, and else what T writes.
func (id ID[T, K]) MarshalJSON() ([]byte, error) {
	prefix, err := Prefix[K]()
	switch {
	case err != nil:
		return nil, err
	case prefix == "":
		return id.Plain().MarshalJSON()
	case id.IsZero():
		return []byte("null"), nil
	}
	b, err := id.text(`"`, prefix)
	if err != nil {
		return nil, err
	}
	return append(b, '"'), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. For a kind with a prefix, UnmarshalJSON reads null
// as the zero ID, and a string as the text, and refuses a number. For a kind without a prefix,
// UnmarshalJSON reads what T reads.
func (id *ID[T, K]) UnmarshalJSON(data []byte) error {
	prefix, err := Prefix[K]()
	n := len(data)
	switch {
	case err != nil:
		return err
	case prefix == "":
		return id.reader().UnmarshalJSON(data)
	case n >= 2 && data[0] == '"' && data[n-1] == '"' && bytes.IndexByte(data, '\\') < 0:
		return id.read(prefix, data[1:n-1])
	case string(data) == "null":
		*id = ID[T, K]{}
		return nil
	}
	return payload.Set(&id[0][0])(payload.JSONString(formatOf[T](), data, func(text []byte) (T, error) {
		var read ID[T, K]
		err := read.read(prefix, text)
		return read.Plain(), err
	}))
}

// formatOf returns the name of the format in errors: the name in the plain ID's error, and else the
// name of the package of T. The two differ for ulidflake.ScalableID. formatOf makes an error, and
// allocates: call formatOf where the result is an error, or is rare.
func formatOf[T any]() string {
	err := any(new(T)).(reader).UnmarshalText([]byte("?")) // no format has a text of one such character
	if plain, ok := errors.AsType[*iderr.ParseError](err); ok {
		return plain.Format
	}
	return path.Base(reflect.TypeFor[T]().PkgPath())
}

// noPrefix returns the error of a text that does not begin with head: the prefix and "_".
func noPrefix(format, head string, text []byte) error {
	same := 0
	for same < min(len(text), len(head)) && text[same] == head[same] {
		same++
	}
	e := wrong.Length(format, text, "")
	e.Reason = "the text of this kind of ID begins with " + strconv.Quote(head)
	if same < len(text) {
		e.Offset, e.Err = same, iderr.ErrCharacter
	}
	return e
}

// afterPrefix returns the plain ID's error with the whole text. An error of a type of its own, as
// sno has, stays within reach of errors.As.
func afterPrefix(format, head string, text []byte, err error) error {
	e := wrong.Length(format, text, "")
	e.Reason, e.Err = strings.TrimPrefix(err.Error(), format+": "), err
	if plain, ok := errors.AsType[*iderr.ParseError](err); ok {
		e.Reason, e.Err = plain.Reason, plain.Err
		if plain.Offset >= 0 {
			e.Offset = len(head) + plain.Offset
		}
	}
	e.Reason = "after " + strconv.Quote(head) + ": " + e.Reason
	return e
}

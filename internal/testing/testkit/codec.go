package testkit

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/vectors"
)

// Forms writes the value as text, hex and, if the format has a decimal form, decimal. It compares
// the results, and reads the forms in lower and upper case.
func (s Suite[T, P]) Forms(t testing.TB, v *big.Int, text, hexText, decimalText string) T {
	t.Helper()
	id := s.Make(v)
	written := func(name, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s %v: %s is %q, want %q", s.Model.Name, v, name, got, want)
		}
	}
	written("String", id.String(), text)
	written("Hex", id.Hex(), hexText)
	appended, err := id.AppendText([]byte("id: "))
	if err != nil {
		t.Error(err)
	}
	written("AppendText", string(appended), "id: "+text)
	marshaled, err := id.MarshalText()
	if err != nil {
		t.Error(err)
	}
	written("MarshalText", string(marshaled), text)
	binary, err := id.MarshalBinary()
	if err != nil {
		t.Error(err)
	}
	written("MarshalBinary", hex.EncodeToString(binary), hexText)
	appended, err = id.AppendBinary([]byte{0xa5})
	if err != nil {
		t.Error(err)
	}
	written("AppendBinary", hex.EncodeToString(appended), "a5"+hexText)
	if s.Decimal != nil {
		written("Decimal", s.Decimal(id), decimalText)
	}

	read := func(form, input string) {
		t.Helper()
		for _, r := range s.readers(form) {
			s.accepts(t, r, input, v)
		}
	}
	read("text", text)
	for _, other := range []string{strings.ToLower(text), strings.ToUpper(text)} {
		if _, refusal := s.Model.Parse(other); refusal.Kind == Fine {
			read("text", other)
		}
	}
	read("hex", hexText)
	read("hex", strings.ToUpper(hexText))
	read("binary", string(binary))
	if s.ParseDecimal != nil {
		read("decimal", decimalText)
	}
	if s.ParseBase36 != nil {
		read("base36", text)
		read("base36", s.Model.Loose.Encode(v))
		read("base36", strings.ToUpper(s.Model.Loose.Encode(v)))
	}
	if s.FromInt64 != nil {
		if got, err := s.FromInt64(v.Int64()); err != nil || got != id {
			t.Errorf("%s FromInt64(%v) = %v, %v", s.Model.Name, v, got, err)
		}
	}
	if id.IsZero() != (v.Sign() == 0) {
		t.Errorf("%s %v: IsZero is %v", s.Model.Name, v, id.IsZero())
	}
	return id
}

// RoundTrips writes the samples in all forms, compares with the model, and reads the forms back.
func (s Suite[T, P]) RoundTrips(t *testing.T) {
	for _, v := range s.Samples() {
		s.Forms(t, v, s.Model.Text(v), s.Model.Hex.Encode(v), decimal(1).Encode(v))
		if t.Failed() {
			return
		}
	}
}

// Orders checks that texts, binary forms and Compare have the order of the integers. If ragged is
// true, texts differ in length, and only texts of equal length must be in order.
func (s Suite[T, P]) Orders(t *testing.T, ragged bool) {
	all := s.Samples()
	for i, a := range all {
		s.Order(t, a, all[(i*7919+13)%len(all)], ragged)
		s.Order(t, a, a, ragged)
		s.Order(t, a, all[max(i-1, 0)], ragged)
		if t.Failed() {
			return
		}
	}
}

// Order checks one pair; see Orders.
func (s Suite[T, P]) Order(t testing.TB, a, b *big.Int, ragged bool) {
	t.Helper()
	x, y, want := s.Make(a), s.Make(b), a.Cmp(b)
	if got := x.Compare(y); got != want {
		t.Errorf("%s: Compare(%v, %v) = %d, want %d", s.Model.Name, a, b, got, want)
	}
	if got := strings.Compare(x.String(), y.String()); got != want && (!ragged || len(x.String()) == len(y.String())) {
		t.Errorf("%s: the texts %q and %q compare as %d, want %d", s.Model.Name, x, y, got, want)
	}
	if got := strings.Compare(x.Hex(), y.Hex()); got != want {
		t.Errorf("%s: %q and %q compare as %d, want %d", s.Model.Name, x.Hex(), y.Hex(), got, want)
	}
	p, _ := x.MarshalBinary()
	q, _ := y.MarshalBinary()
	if got := bytes.Compare(p, q); got != want {
		t.Errorf("%s: the binary forms %x and %x compare as %d, want %d", s.Model.Name, p, q, got, want)
	}
}

// foreignCharacters are outside every alphabet, but look similar or pass lenient decoders. The last
// line has characters that are foreign only to some alphabets.
var foreignCharacters = []string{
	"-", "+", " ", "_", ".", ",", "=", "/", ":", "@", "[", "`", "{", "!", "\t", "\n", "\r", "\x00", "\x7f",
	"\x80", "\xff", "\xc3", "\xed", "\xa0", // not UTF-8
	"é", "ſ", "K", "٣", "０", "１", "Ａ", "𝟘", "\u200b", "\ufeff", "\ufffd", // Kelvin and long s fold to k and s
	"I", "i", "L", "l", "O", "o", "U", "u", "w", "W", "z", "Z", "g", "G", // foreign to some
}

// Foreign inserts foreign characters at each offset of valid texts, in each form, and also cuts
// texts. The model says which texts are still valid.
func (s Suite[T, P]) Foreign(t *testing.T) {
	refused := 0
	for _, form := range []string{"text", "decimal", "base36", "hex"} {
		if form == "decimal" && s.ParseDecimal == nil || form == "base36" && s.ParseBase36 == nil {
			continue
		}
		for _, v := range []*big.Int{new(big.Int), s.Samples()[s.Model.Bits], s.Model.Max()} {
			for _, good := range s.written(form, v) {
				for at := range len(good) + 1 {
					inputs := []string{good[:at]}
					for _, c := range foreignCharacters {
						inputs = append(inputs, good[:at]+c+good[at:]) // put in
						if at+len(c) <= len(good) {
							inputs = append(inputs, good[:at]+c+good[at+len(c):]) // put over
						}
					}
					for _, input := range inputs {
						if _, r := s.Check(t, form, input); r.Kind != Fine {
							refused++
						}
					}
				}
			}
		}
	}
	if refused < 1000 {
		t.Errorf("only %d inputs were foreign", refused)
	}
}

// written returns the texts of v in a form.
func (s Suite[T, P]) written(form string, v *big.Int) []string {
	switch form {
	case "decimal":
		return []string{s.Model.Decimal.Encode(v)}
	case "base36":
		return []string{s.Model.Loose.Encode(v)}
	case "hex":
		return []string{s.Model.Hex.Encode(v)}
	}
	var all []string
	for _, e := range s.Model.Texts {
		all = append(all, e.Encode(v))
	}
	return all
}

// Rejects checks the inputs that the format must refuse.
func (s Suite[T, P]) Rejects(t *testing.T) {
	for _, v := range load[Reject](t, s.Model.Name, vectors.Rejects) {
		input, want := v.Bytes(t), Refusal{Kind(v.Error), v.Offset}
		switch v.Form {
		case "int", "uint", "decimal":
			if s.FromInt64 == nil {
				t.Fatalf("%s: %s reads no integers", v.Why, s.Model.Name)
			}
		}
		readers := []reader[T]{}
		switch v.Form {
		case "int":
			n := Big(t, input).Int64()
			readers = append(readers,
				reader[T]{"FromInt64", readWith(func(string) (T, error) { return s.FromInt64(n) })},
				reader[T]{"Scan(int64)", func(_ string, dst *T) error { return P(dst).Scan(n) }})
		case "uint":
			n := Big(t, input).Uint64()
			readers = append(readers, reader[T]{"Scan(uint64)", func(_ string, dst *T) error { return P(dst).Scan(n) }})
		case "json":
			data := input
			readers = append(readers, reader[T]{"UnmarshalJSON", func(_ string, dst *T) error {
				return P(dst).UnmarshalJSON([]byte(data))
			}})
			if len(data) > 1 && data[0] == '"' { // the error is about the text in the string
				input = data[1 : len(data)-1]
			}
		default:
			readers = s.readers(v.Form)
			if _, r := s.model(v.Form, input); r != want {
				t.Errorf("%s: the model gives %v, the vector %v", v.Why, r, want)
			}
		}
		for _, r := range readers {
			r.name = v.Why + ": " + r.name
			s.refuses(t, r, input, want)
		}
	}
}

// NoIDs checks that values outside the format have no text, binary form, JSON or SQL value, and
// that dst is unchanged.
func (s Suite[T, P]) NoIDs(t *testing.T, values ...T) {
	for _, id := range values {
		dst := []byte("before")
		same := func(name string, got []byte, err error) {
			t.Helper()
			if fault := Fault(err, s.Model.Name, s.Value(id).String(), Refusal{Range, -1}); fault != "" {
				t.Errorf("%s(%v): %s %s", s.Model.Name, s.Value(id), name, fault)
			}
			if string(got) != "before" && len(got) != 0 {
				t.Errorf("%s(%v): %s gave %q beside the error", s.Model.Name, s.Value(id), name, got)
			}
		}
		b, err := id.AppendText(dst)
		same("AppendText", b, err)
		b, err = id.AppendBinary(dst)
		same("AppendBinary", b, err)
		b, err = id.MarshalText()
		same("MarshalText", b, err)
		b, err = id.MarshalBinary()
		same("MarshalBinary", b, err)
		b, err = id.MarshalJSON()
		same("MarshalJSON", b, err)
		v, err := id.Value()
		same("Value", nil, err)
		if storable(v) {
			t.Errorf("%s(%v): Value gave %#v beside the error", s.Model.Name, s.Value(id), v)
		}
		if got, want := id.String(), s.Model.Name+"("+s.Value(id).String()+")"; got != want {
			t.Errorf("String is %q, want %q", got, want)
		}
		if _, err := s.Parse(id.String()); err == nil {
			t.Errorf("%q reads as an ID", id)
		}
	}
}

// FuzzForm adds seeds and fuzzes the readers of a form against the model. For a valid input, it
// writes the ID in all forms and reads the forms back.
func (s Suite[T, P]) FuzzForm(f *testing.F, form string) {
	for i, v := range s.Samples() {
		if i > 400 {
			break
		}
		switch {
		case form == "binary":
			f.Add(string(v.FillBytes(make([]byte, s.Model.Bytes))))
		default:
			for _, text := range s.written(form, v) {
				f.Add(text)
				f.Add(strings.ToUpper(text))
			}
		}
	}
	for _, r := range load[Reject](f, s.Model.Name, vectors.Rejects) {
		if r.Repeat == 0 {
			f.Add(r.Bytes(f))
		}
	}
	f.Fuzz(func(t *testing.T, input string) {
		if v, r := s.Check(t, form, input); r.Kind == Fine {
			s.Forms(t, v, s.Model.Text(v), s.Model.Hex.Encode(v), decimal(1).Encode(v))
		}
	})
}

// FuzzOrder fuzzes pairs of values; see Orders.
func (s Suite[T, P]) FuzzOrder(f *testing.F, ragged bool) {
	all := s.Samples()
	for i := range 200 {
		f.Add(all[i].Bytes(), all[i/2].Bytes())
	}
	f.Fuzz(func(t *testing.T, x, y []byte) {
		in := func(b []byte) *big.Int {
			v := new(big.Int).SetBytes(b)
			return v.Mod(v, new(big.Int).Add(s.Model.Max(), big.NewInt(1)))
		}
		a, b := in(x), in(y)
		s.Order(t, a, b, ragged)
		s.Order(t, b, a, ragged)
	})
}

package testkit

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A jsonPackage is a version of encoding/json. The second version sets a value before it checks the
// syntax of the text after the value.
type jsonPackage struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
	valid     func([]byte) bool // by the rules of this version

	// unquotes says how the package reads a field of an integer kind with the option string. If
	// unquotes is true, the package accepts only a JSON string or null, and passes on the content
	// of the string. If unquotes is false, the package leaves the option to the methods of the ID.
	unquotes bool
}

// JSONText returns the JSON of v by the model: null for zero.
func (m Model) JSONText(v *big.Int) string {
	switch {
	case v.Sign() == 0:
		return "null"
	case m.Number:
		return m.Text(v)
	}
	return strconv.Quote(m.Text(v))
}

// JSON reads a JSON value by the model. For a value that is neither null nor a string nor a number,
// open is true: the kind of the refusal does not matter.
func (m Model) JSON(data []byte) (v *big.Int, r Refusal, open bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var a any
	if !json.Valid(data) || d.Decode(&a) != nil {
		return nil, Refusal{Character, 0}, true
	}
	switch a := a.(type) {
	case nil:
		return new(big.Int), accepted, false
	case string:
		v, r = m.Parse(a)
		return v, r, false
	case json.Number:
		if m.Decimal == nil {
			return nil, Refusal{Character, 0}, false
		}
		v, r = m.Decimal.Decode(a.String(), m.Max())
		other, text := m.Parse(a.String())
		if r.Kind == Fine && m.Loose != nil {
			other, text = m.Loose.Decode(a.String(), m.Max())
		}
		if text.Kind == Fine && (r.Kind != Fine || other.Cmp(v) != 0) {
			return nil, Refusal{Character, 0}, false // the number may be a text without its quotes
		}
		return v, r, false
	}
	return nil, Refusal{Character, 0}, true
}

// Bare reads the input of UnmarshalJSON by the model: a JSON value or, for the integer formats, a
// text without its quotes.
func (m Model) Bare(data []byte) (*big.Int, Refusal) {
	switch {
	case json.Valid(data) && len(bytes.TrimSpace(data)) == len(data):
		v, r, _ := m.JSON(data)
		return v, r
	case m.Decimal != nil:
		return m.Parse(string(data))
	}
	return nil, Refusal{Character, 0}
}

// edges returns the samples for the checks of interfaces: zero, one, a third of the largest value,
// and the largest value.
func (s Suite[T, P]) edges() []*big.Int {
	third := new(big.Int).Div(s.Model.Max(), big.NewInt(3))
	return []*big.Int{new(big.Int), big.NewInt(1), third, s.Model.Max()}
}

// record is a struct with IDs in all places of JSON.
type record[T comparable] struct {
	A       T             `json:"a"`
	Pointer *T            `json:"pointer"`
	Absent  *T            `json:"absent"`
	Omitted T             `json:"omitted,omitzero"`
	List    []T           `json:"list"`
	Map     map[T]T       `json:"map"`
	Deep    map[T][]*T    `json:"deep"`
	Any     any           `json:"any"`
	Array   [2]T          `json:"array"`
	Nested  struct{ T T } `json:"nested"`
}

// JSON checks IDs as JSON, with each version of encoding/json.
func (s Suite[T, P]) JSON(t *testing.T) {
	for _, pkg := range jsonPackages {
		t.Run(pkg.name, func(t *testing.T) {
			s.jsonValues(t, pkg)
			s.jsonRecords(t, pkg)
			s.jsonString(t, pkg)
			s.jsonRefusals(t, pkg)
		})
	}
}

func (s Suite[T, P]) jsonValues(t *testing.T, pkg jsonPackage) {
	read := func(data string, want T) {
		t.Helper()
		id := s.Make(big.NewInt(424242))
		if err := pkg.unmarshal([]byte(data), &id); err != nil || id != want {
			t.Errorf("%s reads as %v, %v; want %v", data, id, err, want)
		}
	}
	for _, v := range s.edges() {
		id, want := s.Make(v), s.Model.JSONText(v)
		for _, x := range []any{id, &id, any(id)} {
			if got, err := pkg.marshal(x); err != nil || string(got) != want {
				t.Errorf("%T %v is %s, %v; want %s", x, id, got, err, want)
			}
		}
		read(want, id)
		read(" "+want+"\n", id)
		for _, text := range s.written("text", v) {
			read(strconv.Quote(text), id)
			read(strconv.Quote(strings.ToLower(text)), id)
			read(fmt.Sprintf(`"\u%04x%s"`, text[0], text[1:]), id)
		}
		if s.Model.Decimal != nil {
			read(s.Model.Decimal.Encode(v), id)
		}
	}
	read("null", s.Make(new(big.Int)))
	var p P = new(T)
	if err := pkg.unmarshal([]byte("null"), &p); err != nil || p != nil {
		t.Errorf("null read into a pointer is %v, %v", p, err)
	}
}

func (s Suite[T, P]) jsonRecords(t *testing.T, pkg jsonPackage) {
	type rec = record[T]
	for _, v := range s.edges() {
		id, text, value := s.Make(v), strconv.Quote(s.Model.Text(v)), s.Model.JSONText(v)
		in := rec{A: id, Pointer: &id, List: []T{id, s.Make(new(big.Int))}, Map: map[T]T{id: id},
			Deep: map[T][]*T{id: {&id, nil}}, Any: id, Array: [2]T{id}}
		in.Nested.T = id
		want := strings.NewReplacer("T", text, "V", value).Replace(
			`{"a":V,"pointer":V,"absent":null,"list":[V,null],"map":{T:V},"deep":{T:[V,null]},"any":V,"array":[V,null],"nested":{"t":V}}`)
		got, err := pkg.marshal(in)
		if err != nil || !strings.EqualFold(string(got), want) {
			t.Errorf("a struct with %v is\n%s, %v; want\n%s", id, got, err, want)
			continue
		}
		if again, err := pkg.marshal(&in); err != nil || !bytes.Equal(again, got) {
			t.Errorf("a pointer to it is\n%s, %v", again, err)
		}
		var out rec
		if err := pkg.unmarshal(got, &out); err != nil {
			t.Errorf("%s: %v", got, err)
			continue
		}
		in.Any, out.Any = nil, nil
		if v.Sign() == 0 { // null gives a nil pointer
			in.Pointer, in.Deep[id][0] = nil, nil
		}
		if !reflect.DeepEqual(in, out) {
			t.Errorf("%s reads as\n%+v, want\n%+v", got, out, in)
		}
	}

	// With omitzero, a zero ID is omitted, and other IDs are not.
	for _, v := range s.edges() {
		x := struct {
			T T `json:"t,omitzero"`
		}{s.Make(v)}
		want := "{}"
		if v.Sign() != 0 {
			want = `{"t":` + s.Model.JSONText(v) + "}"
		}
		if got, err := pkg.marshal(x); err != nil || string(got) != want {
			t.Errorf("with omitzero %v is %s, %v; want %s", x.T, got, err, want)
		}
	}
}

// wrongJSON are JSON values without an ID, and texts that are not JSON.
var wrongJSON = []string{
	"true", "false", "{}", "[]", `{"a":1}`, `["1"]`, "[1]", "1.5", "1.0", "1e3", "1E3", "0.1e1", "-1", "-0", "-0.0",
	"01", "00", "+1", "0x1", "1_0", "1n", "NaN", "Infinity", "nil", "NULL", "Null", "nul", "",
	`""`, `"`, `"1`, `1"`, `'1'`, `" 1"`, `"1 "`, `"-1"`, `"+1"`, `"1.5"`, `"null"`, `"\u00"`, `"\x31"`, `"\ud800"`,
	"\"\x00\"", "\"\xff\"", `"\u0000"`, `"0\n"`, "1 1", `"1""1"`, "1,", "[", "{", `{"":`, `"\u0030`, `"\"`, `"\u003"`,
	strings.Repeat("9", 30), "[" + strings.Repeat("[", 50), `"` + strings.Repeat("0", 41) + `"`,
	`"` + strings.Repeat(`\u0030`, 41) + `"`,
}

// digitTexts are texts with only digits. Without quotes they look like numbers.
var digitTexts = []string{
	"1000000000000", "7000000000000", "1999999999999", "0000000000010", "0000000000000",
	"0", "1", "9", "10", "42", "0042", "999999999999", "9007199254740991", "1000000000000000000", "9223372036854775807",
}

// numberTexts are texts with a letter that are also JSON numbers, or almost.
var numberTexts = []string{
	"1e10000000000", "1E10000000000", "0e00000000001", "1000000e00000", "0E99999999999",
	"00e0000000001", "e000000000000", "0000000000e00", "1e1e100000000", "000000000000e", "10000000000e0", "0x00000000001",
}

// optional has IDs in fields with the option string. plain has the same fields without the option.
type (
	optional[T any] struct {
		//lint:ignore SA5008 most IDs are of a numeric type
		T       T  `json:"t,string"`
		Pointer *T `json:"p,string"`
	}
	plain[T any] struct {
		T       T  `json:"t"`
		Pointer *T `json:"p"`
	}
)

// jsonString writes and reads IDs in fields with the option string of encoding/json. It also reads
// with the option what was written without, and the other way round. Each read must return the ID
// written, or the documented error.
func (s Suite[T, P]) jsonString(t *testing.T, pkg jsonPackage) {
	values := s.Samples()
	for _, text := range append(slices.Clone(digitTexts), numberTexts...) {
		if v, r := s.Model.Parse(text); r.Kind == Fine {
			values = append(values, v)
		}
		s.optional(t, pkg, strconv.Quote(text))
		if json.Valid([]byte(text)) {
			s.optional(t, pkg, text)
		}
	}
	refused := 0
	for _, v := range values {
		id := s.Make(v)
		with, err := pkg.marshal(optional[T]{id, &id})
		without, err2 := pkg.marshal(plain[T]{id, &id})
		if value := s.Model.JSONText(v); err != nil || err2 != nil || !bytes.Equal(with, without) ||
			string(with) != `{"t":`+value+`,"p":`+value+`}` {
			t.Errorf("%v is %s with the option string, %v, and %s without it, %v", id, with, err, without, err2)
			continue
		}
		want := plain[T]{id, &id}
		if v.Sign() == 0 {
			want.Pointer = nil // null
		}
		other := s.Make(big.NewInt(424242))
		read := plain[T]{other, new(T)}
		if err := pkg.unmarshal(with, &read); err != nil || !reflect.DeepEqual(read, want) {
			t.Errorf("%s is read without the option string as %v, %v", with, read, err)
		}
		out := optional[T]{other, new(T)}
		err = pkg.unmarshal(with, &out)
		quoted := pkg.unquotes && s.Model.Decimal != nil // the package applies the option to integers
		switch {
		case quoted && s.Model.Number && v.Sign() != 0:
			// The package refuses its own number, and does not call the ID's method.
			if err == nil || !strings.Contains(err.Error(), "invalid use of ,string struct tag, trying to unmarshal unquoted value") {
				t.Errorf("%s is read as %v, %v", with, out, err)
			}
			refused++
		case quoted && v.Sign() != 0 && json.Valid([]byte(s.Model.Text(v))):
			if fault := Fault(err, s.Model.Name, s.Model.Text(v), Refusal{Character, 0}); fault != "" {
				t.Errorf("%s %s", with, fault)
			} else if !strings.Contains(err.Error(), "fields without the option string") {
				t.Errorf("%s: %v, which has no remedy", with, err)
			}
			refused++
		case err != nil || !reflect.DeepEqual(plain[T](out), want):
			t.Errorf("%s is read with the option string as %v, %v", with, out, err)
			continue
		}
		if err != nil && (out.T != other || *out.Pointer != *new(T)) {
			t.Errorf("%s gave an error but set the IDs to %v", with, out)
		}
	}
	if want := pkg.unquotes && s.Model.Decimal != nil; want != (refused > 0) {
		t.Errorf("%d of %d IDs were refused", refused, len(values))
	}
}

// optional reads a JSON value into a field with the option string, and compares with the model.
func (s Suite[T, P]) optional(t testing.TB, pkg jsonPackage, value string) {
	t.Helper()
	want, r, _ := s.Model.JSON([]byte(value))
	if pkg.unquotes && s.Model.Decimal != nil && value != "null" {
		var inside string
		want, r = nil, Refusal{Character, 0}
		if json.Unmarshal([]byte(value), &inside) == nil && inside != "" {
			want, r = s.Model.Bare([]byte(inside))
		}
	}
	before := s.Make(big.NewInt(424242))
	out := optional[T]{T: before}
	switch err := pkg.unmarshal([]byte(`{"t":`+value+`}`), &out); {
	case (err == nil) != (r.Kind == Fine):
		t.Errorf("%s: with the option string %s gave %v, the model %v", pkg.name, value, err, r)
	case err == nil && s.Value(out.T).Cmp(want) != 0:
		t.Errorf("%s: with the option string %s reads as %v, want %v", pkg.name, value, out.T, want)
	case err != nil && out.T != before && value[0] == '"': // the package sets the ID to zero at a number beyond its floats
		t.Errorf("%s: with the option string %s gave an error but set the ID to %v", pkg.name, value, out.T)
	}
}

func (s Suite[T, P]) jsonRefusals(t *testing.T, pkg jsonPackage) {
	// The integer above the largest value, in every place.
	over := new(big.Int).Add(s.Model.Max(), big.NewInt(1))
	wrong := wrongJSON
	for _, text := range digitTexts {
		if _, r, _ := s.Model.JSON([]byte(text)); r.Kind != Fine {
			wrong = append(wrong[:len(wrong):len(wrong)], text)
		}
	}
	if s.Model.Bits < 64 {
		wrong = append(wrong[:len(wrong):len(wrong)], over.String(), strconv.Quote(s.Model.Text(over)))
	}
	for _, data := range wrong {
		before := s.Make(big.NewInt(424242))
		id := before
		err := pkg.unmarshal([]byte(data), &id)
		if err == nil {
			t.Errorf("%s reads as %v", data, id)
		}
		if id != before && pkg.valid([]byte(data)) {
			t.Errorf("%s gave an error but set the ID to %v", data, id)
		}
		if _, r, open := s.Model.JSON([]byte(data)); !open && pkg.valid([]byte(data)) && s.Sized == nil {
			if fault := Fault(err, s.Model.Name, "", r); fault != "" && !strings.Contains(fault, "keeps") {
				t.Errorf("%s %s", data, fault)
			}
		}
		// UnmarshalJSON called directly reads a text without quotes as well.
		if _, r := s.Model.Bare([]byte(data)); r.Kind != Fine {
			id = before
			if err := P(&id).UnmarshalJSON([]byte(data)); err == nil || id != before {
				t.Errorf("UnmarshalJSON(%s) gave %v, %v", data, id, err)
			}
		}
		member := `{"a":` + data + `}`
		if err := pkg.unmarshal([]byte(member), new(record[T])); err == nil {
			t.Errorf("%s reads", member)
		}
		if data != "" && data[0] == '"' {
			name := `{"map":{` + data + `:null}}`
			if err := pkg.unmarshal([]byte(name), new(record[T])); err == nil {
				t.Errorf("%s reads", name)
			}
		}
	}
}

// FuzzJSON fuzzes the reading of JSON against the model.
func (s Suite[T, P]) FuzzJSON(f *testing.F) {
	for _, v := range s.edges() {
		f.Add([]byte(s.Model.JSONText(v)))
		for _, text := range s.written("text", v) {
			f.Add([]byte(strconv.Quote(text)))
			f.Add(fmt.Appendf(nil, ` "\u%04x%s" `, text[0], text[1:]))
			f.Add(fmt.Appendf(nil, `"%s" `, text))
		}
		if s.Model.Decimal != nil {
			f.Add([]byte(s.Model.Decimal.Encode(v)))
		}
	}
	for _, data := range wrongJSON {
		f.Add([]byte(data))
	}
	for _, text := range append(slices.Clone(digitTexts), numberTexts...) {
		f.Add([]byte(text))
		f.Add([]byte(strconv.Quote(text)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want, r, _ := s.Model.JSON(data)
		before := s.Make(big.NewInt(424242))
		for _, pkg := range jsonPackages {
			if pkg.valid(data) {
				s.optional(t, pkg, string(bytes.TrimSpace(data)))
			}
			id := before
			switch err := pkg.unmarshal(data, &id); {
			case !pkg.valid(data) && err != nil: // the package refused the input itself
			case (err == nil) != (r.Kind == Fine):
				t.Errorf("%s: %q gave %v, the model %v", pkg.name, data, err, r)
			case err == nil && s.Value(id).Cmp(want) != 0:
				t.Errorf("%s: %q reads as %v, want %v", pkg.name, data, s.Value(id), want)
			case err != nil && id != before:
				t.Errorf("%s: %q gave an error but set the ID to %v", pkg.name, data, id)
			}
		}
		id := before
		want, r = s.Model.Bare(data)
		switch err := P(&id).UnmarshalJSON(data); {
		case (err == nil) != (r.Kind == Fine):
			t.Errorf("UnmarshalJSON(%q) gave %v, the model %v", data, err, r)
		case err == nil && s.Value(id).Cmp(want) != 0:
			t.Errorf("UnmarshalJSON(%q) = %v, the model %v, %v", data, id, want, r)
		case err != nil && id != before:
			t.Errorf("UnmarshalJSON(%q) gave an error but set the ID to %v", data, id)
		}
	})
}

// FuzzInt fuzzes the reading of integers, signed and not.
func (s Suite[T, P]) FuzzInt(f *testing.F) {
	for _, v := range append(s.edges(), big.NewInt(-1)) {
		f.Add(v.Int64())
	}
	f.Add(int64(math.MinInt64))
	f.Add(int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, v int64) {
		s.integer(t, big.NewInt(v),
			reader[T]{"FromInt64", readWith(func(string) (T, error) { return s.FromInt64(v) })},
			reader[T]{"Scan(int64)", func(_ string, dst *T) error { return P(dst).Scan(v) }})
		s.integer(t, new(big.Int).SetUint64(uint64(v)),
			reader[T]{"Scan(uint64)", func(_ string, dst *T) error { return P(dst).Scan(uint64(v)) }})
	})
}

// integer checks that an integer in the format's range reads as an ID, and that any other is
// refused.
func (s Suite[T, P]) integer(t testing.TB, v *big.Int, readers ...reader[T]) {
	t.Helper()
	for _, r := range readers {
		if v.Sign() >= 0 && v.Cmp(s.Model.Max()) <= 0 {
			s.accepts(t, r, v.String(), v)
		} else {
			s.refuses(t, r, v.String(), Refusal{Range, -1})
		}
	}
}

// Shows checks that fmt, slog and flag show an ID as its text, and that gob carries an ID.
func (s Suite[T, P]) Shows(t *testing.T) {
	type holder struct{ ID T }
	for _, v := range s.edges() {
		id, text := s.Make(v), s.Model.Text(v)
		Logs(t, id)
		for got, want := range map[string]string{
			fmt.Sprint(id):                text,
			fmt.Sprintf("%s", id):         text,
			fmt.Sprintf("%v", &id):        text,
			fmt.Sprintf("%v", []T{id}):    "[" + text + "]",
			fmt.Sprintf("%v", holder{id}): "{" + text + "}",
			fmt.Sprintf("%q", id):         strconv.Quote(text),
		} {
			if got != want {
				t.Errorf("fmt shows %s, want %s", got, want)
			}
		}

		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		var parsed T
		flags.TextVar(P(&parsed), "id", any(id).(interface{ MarshalText() ([]byte, error) }), "an ID")
		if got := flags.Lookup("id").DefValue; parsed != id || got != text {
			t.Errorf("flag's default is %v, %q; want %v", parsed, got, id)
		}
		if err := flags.Parse([]string{"-id", s.Model.Text(big.NewInt(77))}); err != nil || parsed != s.Make(big.NewInt(77)) {
			t.Errorf("flag reads %v, %v", parsed, err)
		}
		if err := flags.Parse([]string{"-id", "no-id"}); err == nil || parsed != s.Make(big.NewInt(77)) {
			t.Errorf("flag reads no-id as %v", parsed)
		}

		var stream bytes.Buffer
		var back holder
		if err := gob.NewEncoder(&stream).Encode(holder{id}); err != nil {
			t.Error(err)
		} else if err := gob.NewDecoder(&stream).Decode(&back); err != nil || back.ID != id {
			t.Errorf("gob reads %v, %v; want %v", back, err, id)
		}
	}
}

// Logs checks that slog logs an ID, and a pointer to the ID, as its text or its JSON, and a nil
// pointer as nothing.
func Logs[T fmt.Stringer](t testing.TB, id T) {
	t.Helper()
	js, err := json.Marshal(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		value      any
		text, json string
	}{{id, id.String(), string(js)}, {&id, id.String(), string(js)}, {(*T)(nil), "<nil>", "null"}} {
		var logs bytes.Buffer
		slog.New(slog.NewTextHandler(&logs, nil)).Info("made", "id", c.value)
		if !strings.HasSuffix(logs.String(), " id="+c.text+"\n") {
			t.Errorf("slog's text of %T is %s", c.value, logs.Bytes())
		}
		logs.Reset()
		slog.New(slog.NewJSONHandler(&logs, nil)).Info("made", "id", c.value)
		if !strings.HasSuffix(logs.String(), `,"id":`+c.json+"}\n") {
			t.Errorf("slog's JSON of %T is %s", c.value, logs.Bytes())
		}
	}
}

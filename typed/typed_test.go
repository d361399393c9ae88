package typed_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/gob"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/typed"
	"github.com/firn-id/firn/ulidflake"
)

// Order is a kind with a prefix.
type Order struct{}

type OrderID = typed.ID[nanoflake.ID, Order]

func (Order) IDPrefix() string { return "order" }

// User is a kind without a prefix.
type User struct{}

// Lamp is a kind that contains its own ID.
type Lamp struct {
	ID    typed.ID[nanoflake.ID, Lamp]
	Watts int
}

func (Lamp) IDPrefix() string { return "lamp_2" }

// Freight is a kind without a prefix, and larger than any stack frame should be.
type Freight struct{ Rows [1 << 20]int }

// reading has the methods of a pointer to a plain ID.
type reading[T any] interface {
	*T
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	sql.Scanner
	UnmarshalBSONValue(kind byte, data []byte) error
	UnmarshalGQL(v any) error
	ScanRedis(s string) error
	UnmarshalParam(param string) error
}

// interfaces has the methods of the pointer to an ID; the methods of the ID are among the methods.
type interfaces interface {
	fmt.Stringer
	fmt.Formatter
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.TextUnmarshaler
	encoding.BinaryAppender
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
	json.Marshaler
	json.Unmarshaler
	driver.Valuer
	sql.Scanner
	IsZero() bool
	SkipUnderlyingTypePlan()
	GormDataType() string
	BytesValue() ([]byte, error)
	MarshalBSONValue() (byte, []byte, error)
	UnmarshalBSONValue(kind byte, data []byte) error
	MarshalGQL(io.Writer)
	UnmarshalGQL(v any) error
	ScanRedis(s string) error
	UnmarshalParam(param string) error
}

// A plain is a type of plain IDs, with tests.
type plain struct {
	name string
	run  func(*testing.T)
}

// plains are all types of plain IDs. The compiler checks the methods of each type and its pointer.
var plains = []plain{
	of("nanoflake.ID", integers[nanoflake.ID](int64(nanoflake.Max))),
	of("nanoflake.Text", wrap(nanoflake.ID.Text, integers[nanoflake.ID](int64(nanoflake.Max)))),
	of("ulidflake.ID", integers[ulidflake.ID](int64(ulidflake.Max))),
	of("ulidflake.Text", wrap(ulidflake.ID.Text, integers[ulidflake.ID](int64(ulidflake.Max)))),
	of("ulidflake.ScalableID", integers[ulidflake.ScalableID](int64(ulidflake.MaxScalable))),
	of("ulidflake.ScalableText", wrap(ulidflake.ScalableID.Text, integers[ulidflake.ScalableID](int64(ulidflake.MaxScalable)))),
	of("snowflakesi.ID", integers[snowflakesi.ID](int64(snowflakesi.Max))),
	of("scru160.ID", scru160s()),
	of("scru160.Binary", wrap(scru160.ID.Binary, scru160s())),
	of("sno.ID", snos()),
	of("sno.UUID", wrap(sno.ID.UUID, snos()[1:])), // null reads as UUID{}, and not as the UUID of the zero ID
	of("sno.Text", wrap(sno.ID.Text, snos())),
}

func integers[T ~int64](most int64) []T {
	ids := []T{0, 1, T(most)}
	for range 20 {
		ids = append(ids, T(rand.Int64N(most)+1))
	}
	return ids
}

func scru160s() []scru160.ID {
	ids := []scru160.ID{{}, {19: 1}, scru160.Max()}
	for range 20 {
		var id scru160.ID
		for i := range id {
			id[i] = byte(rand.Uint32())
		}
		ids = append(ids, id)
	}
	return ids
}

func snos() []sno.ID {
	ids := []sno.ID{{}, {9: 1}, sno.ID(bytes.Repeat([]byte{0xff}, 10))}
	for range 20 {
		var id sno.ID
		for i := range id {
			id[i] = byte(rand.Uint32())
		}
		ids = append(ids, id)
	}
	return ids
}

func wrap[A, B any](f func(A) B, from []A) (to []B) {
	for _, v := range from {
		to = append(to, f(v))
	}
	return to
}

func of[T typed.Untyped[T], P reading[T]](name string, ids []T) plain {
	var (
		_ interfaces    = (*typed.ID[T, Order])(nil)
		_ fmt.Stringer  = typed.ID[T, Order]{}
		_ driver.Valuer = typed.ID[T, Order]{}
	)
	return plain{name, func(t *testing.T) {
		if a, b := reflect.TypeFor[T]().Size(), reflect.TypeFor[typed.ID[T, Order]]().Size(); a != b {
			t.Errorf("an ID has %d bytes, a plain ID %d", b, a)
		}
		for _, id := range ids {
			sameAsPlain[T, User, P](t, id)
			sameForms[T, Order, P](t, id)
			texts[T, User](t, id, "")
			texts[T, Order](t, id, "order_")
			texts[T, Lamp](t, id, "lamp_2_")
			otherKinds[T](t, id)
		}
		refusals[T, User, P](t, ids)
	}}
}

func TestPlains(t *testing.T) {
	for _, p := range plains {
		t.Run(p.name, p.run)
	}
}

// equal fails unless two calls have the same results.
func equal(t *testing.T, what string, got, want []any) {
	t.Helper()
	for i := range got {
		g, gerr := got[i].(error)
		w, werr := want[i].(error)
		if gerr && werr && g.Error() == w.Error() {
			continue
		}
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: %#v, want %#v", what, got[i], want[i])
		}
	}
}

func results(v ...any) []any { return v }

// sameForms checks the forms without a prefix against the plain ID's forms, for
// databases and binary forms.
func sameForms[T typed.Untyped[T], K any, P reading[T]](t *testing.T, id T) {
	t.Helper()
	v := typed.As[K](id)
	equal(t, "Value", results(v.Value()), results(id.Value()))
	equal(t, "MarshalBinary", results(v.MarshalBinary()), results(id.MarshalBinary()))
	equal(t, "AppendBinary", results(v.AppendBinary([]byte("a"))), results(id.AppendBinary([]byte("a"))))
	equal(t, "MarshalBSONValue", results(v.MarshalBSONValue()), results(id.MarshalBSONValue()))
	equal(t, "GormDataType", results(v.GormDataType()), results(id.GormDataType()))
	equal(t, "IsZero", results(v.IsZero()), results(id.IsZero()))
	equal(t, "Compare", results(v.Compare(typed.ID[T, K]{})), results(id.Compare(*new(T))))
	for _, verb := range []string{"%x", "%X", "%#x", "%d", "%40x", "%t"} {
		equal(t, verb, results(fmt.Sprintf(verb, v)), results(fmt.Sprintf(verb, id)))
	}
	if b, ok := any(id).(interface{ BytesValue() ([]byte, error) }); ok {
		equal(t, "BytesValue", results(v.BytesValue()), results(b.BytesValue()))
	} else if _, err := v.BytesValue(); !errors.Is(err, iderr.ErrType) || !strings.HasSuffix(err.Error(), " use a column of type "+id.GormDataType()) {
		t.Errorf("BytesValue: %v", err)
	}

	back := func(what string, read func(to *typed.ID[T, K]) error) {
		t.Helper()
		var got typed.ID[T, K]
		if err := read(&got); err != nil || got != v {
			t.Errorf("%s: %v, %v; want %v", what, got, err, v)
		}
	}
	binary, _ := id.MarshalBinary()
	back("UnmarshalBinary", func(to *typed.ID[T, K]) error { return to.UnmarshalBinary(binary) })
	back("ScanRedis", func(to *typed.ID[T, K]) error { return to.ScanRedis(string(binary)) })
	if value, err := id.Value(); err == nil {
		back("Scan", func(to *typed.ID[T, K]) error { return to.Scan(value) })
	} else if !id.IsZero() {
		t.Errorf("Value: %v", err)
	}
	if kind, data, err := id.MarshalBSONValue(); err == nil {
		back("UnmarshalBSONValue", func(to *typed.ID[T, K]) error { return to.UnmarshalBSONValue(kind, data) })
	} else if !id.IsZero() {
		t.Errorf("MarshalBSONValue: %v", err)
	}
	var buffer bytes.Buffer
	var got typed.ID[T, K]
	if err := gob.NewEncoder(&buffer).Encode(v); err != nil {
		t.Error(err)
	} else if err := gob.NewDecoder(&buffer).Decode(&got); err != nil || got != v {
		t.Errorf("gob: %v, %v", got, err)
	}
	for _, src := range []any{nil, 1.5, "~", []byte("~"), int64(-1)} {
		got, want := v, id
		equal(t, "Scan", results(got.Scan(src), got.Plain()), results(P(&want).Scan(src), want))
	}
}

// sameAsPlain checks all forms of a kind without a prefix against the plain ID's.
func sameAsPlain[T typed.Untyped[T], K any, P reading[T]](t *testing.T, id T) {
	t.Helper()
	sameForms[T, K, P](t, id)
	v := typed.As[K](id)
	equal(t, "String", results(v.String()), results(id.String()))
	equal(t, "MarshalText", results(v.MarshalText()), results(id.MarshalText()))
	equal(t, "AppendText", results(v.AppendText([]byte("a"))), results(id.AppendText([]byte("a"))))
	equal(t, "MarshalJSON", results(v.MarshalJSON()), results(id.MarshalJSON()))
	for _, verb := range []string{"%v", "%s", "%q", "%+v", "%40s", "%-40v|", "%.3s", "%x"} {
		equal(t, verb, results(fmt.Sprintf(verb, v)), results(fmt.Sprintf(verb, id)))
	}
	for _, data := range []string{"null", "12", `"12"`, `"\u0030"`, "", `"`, "{}", "-1", "1e3", `"` + id.String() + `"`} {
		var got typed.ID[T, K]
		var want T
		equal(t, "UnmarshalJSON", results(got.UnmarshalJSON([]byte(data)), got.Plain()), results(P(&want).UnmarshalJSON([]byte(data)), want))
		equal(t, "UnmarshalText", results(got.UnmarshalText([]byte(data)), got.Plain()), results(P(&want).UnmarshalText([]byte(data)), want))
		equal(t, "UnmarshalParam", results(got.UnmarshalParam(data), got.Plain()), results(P(&want).UnmarshalParam(data), want))
		equal(t, "ScanRedis", results(got.ScanRedis(data), got.Plain()), results(P(&want).ScanRedis(data), want))
	}
	for _, value := range []any{nil, 12, int64(12), json.Number("12"), "12", id.String(), true} {
		var got typed.ID[T, K]
		var want T
		equal(t, "UnmarshalGQL", results(got.UnmarshalGQL(value), got.Plain()), results(P(&want).UnmarshalGQL(value), want))
	}
}

// texts checks the forms with a prefix.
func texts[T typed.Untyped[T], K any](t *testing.T, id T, head string) {
	t.Helper()
	v := typed.As[K](id)
	text := head + id.String()
	equal(t, "String", results(v.String()), results(text))
	equal(t, "MarshalText", results(v.MarshalText()), results([]byte(text), nil))
	equal(t, "AppendText", results(v.AppendText([]byte("a"))), results([]byte("a"+text), nil))
	for _, verb := range []string{"%v", "%s", "%q", "%+v", "%60s", "%-60v|", "%.3s", "%#q"} {
		equal(t, verb, results(fmt.Sprintf(verb, v)), results(fmt.Sprintf(verb, text)))
	}
	equal(t, "%#v", results(fmt.Sprintf("%#v", v)), results(fmt.Sprintf("%T{{%#v}}", v, id)))

	var wantJSON []byte
	switch {
	case id.IsZero():
		wantJSON = []byte("null")
	case head == "":
		wantJSON, _ = id.MarshalJSON()
	default:
		wantJSON = fmt.Appendf(nil, "%q", text)
	}
	equal(t, "MarshalJSON", results(v.MarshalJSON()), results(wantJSON, nil))
	var gql bytes.Buffer
	v.MarshalGQL(&gql)
	equal(t, "MarshalGQL", results(gql.String()), results(string(wantJSON)))

	back := func(what string, read func(to *typed.ID[T, K]) error) {
		t.Helper()
		var got typed.ID[T, K]
		if err := read(&got); err != nil || got != v {
			t.Errorf("%s: %v, %v; want %v", what, got, err, v)
		}
	}
	back("UnmarshalText", func(to *typed.ID[T, K]) error { return to.UnmarshalText([]byte(text)) })
	back("UnmarshalParam", func(to *typed.ID[T, K]) error { return to.UnmarshalParam(text) })
	back("ScanRedis", func(to *typed.ID[T, K]) error { return to.ScanRedis(text) })
	back("UnmarshalGQL", func(to *typed.ID[T, K]) error { return to.UnmarshalGQL(text) })
	back("UnmarshalJSON", func(to *typed.ID[T, K]) error { return to.UnmarshalJSON(wantJSON) })
	back("UnmarshalJSON of a string", func(to *typed.ID[T, K]) error { return to.UnmarshalJSON(fmt.Appendf(nil, "%q", text)) })
	back("UnmarshalJSON of an escape", func(to *typed.ID[T, K]) error {
		return to.UnmarshalJSON(fmt.Appendf(nil, `"\u%04x%s"`, text[0], text[1:]))
	})
	back("Parse", func(to *typed.ID[T, K]) (err error) { *to, err = typed.Parse[typed.ID[T, K]](text); return err })
	back("flag", func(to *typed.ID[T, K]) error {
		flags := flag.NewFlagSet("", flag.ContinueOnError)
		flags.TextVar(to, "id", to, "")
		return flags.Parse([]string{"-id", text})
	})

	// JSON by package json: a field, a pointer, a name of a member, a field with the option string.
	type document struct {
		A typed.ID[T, K]
		B *typed.ID[T, K]
		C map[typed.ID[T, K]]int
		//lint:ignore SA5008 the option does nothing
		D typed.ID[T, K] `json:",string"`
		E typed.ID[T, K] `json:",omitzero"`
	}
	in := document{A: v, B: &v, C: map[typed.ID[T, K]]int{v: 1}, D: v, E: v}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out document
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	if id.IsZero() {
		in.B = nil // null
	}
	if !reflect.DeepEqual(in, out) {
		t.Errorf("%s: %+v, want %+v", data, out, in)
	}
	if !bytes.Contains(data, fmt.Appendf(nil, `"C":{%q:1}`, text)) || bytes.Contains(data, []byte(`"E"`)) == id.IsZero() {
		t.Errorf("JSON %s", data)
	}
}

// otherKinds checks that no text of a kind reads as an ID of another kind.
func otherKinds[T typed.Untyped[T]](t *testing.T, id T) {
	t.Helper()
	plain, binary := id.String(), must(id.MarshalBinary())
	format, goType, _ := strings.Cut(fmt.Sprintf("%T", id), ".")
	if strings.HasPrefix(goType, "Scalable") {
		format += "-scalable"
	}
	bad := map[string]int{ // the offset of the fault; -2 if it depends on the ID
		plain: -2, "lamp_2_" + plain: 0, "Order_" + plain: 0, "oRder_" + plain: 1, "order" + plain: 5, "order-" + plain: 5,
		"orders_" + plain: 5, " order_" + plain: 0, "order_ " + plain: -2, "order_order_" + plain: -2, "order_" + plain + "_": -2,
		"": -1, "order": -1, "ord": -1, "order_": -2,
		"order_" + strings.Repeat("!", len(binary)-len("order_")): -2, // the length of the binary form
	}
	for text, offset := range bad {
		check := func(what string, read func(to *typed.ID[T, Order]) error) {
			t.Helper()
			got := typed.As[Order](id)
			err := read(&got)
			parse, ok := errors.AsType[*iderr.ParseError](err)
			if !ok || got.Plain() != id {
				t.Errorf("%s of %q: %v, %v", what, text, got, err)
				return
			}
			if size, ok := errors.AsType[*sno.InvalidDataSizeError](err); ok && size.Size != len(text)-len("order_") {
				t.Errorf("%s of %q: size %d", what, text, size.Size)
			}
			if !strings.Contains(err.Error(), "order_") || parse.Input != wrong.Clip(text) || offset > -2 && parse.Offset != offset || parse.Format != format {
				t.Errorf("%s of %q: %+v", what, text, parse)
			}
		}
		check("UnmarshalText", func(to *typed.ID[T, Order]) error { return to.UnmarshalText([]byte(text)) })
		check("UnmarshalParam", func(to *typed.ID[T, Order]) error { return to.UnmarshalParam(text) })
		check("UnmarshalGQL", func(to *typed.ID[T, Order]) error { return to.UnmarshalGQL(text) })
		check("UnmarshalJSON", func(to *typed.ID[T, Order]) error { return to.UnmarshalJSON(fmt.Appendf(nil, "%q", text)) })
		if len(text) != len(binary) || strings.HasPrefix(text, "order_") {
			check("ScanRedis", func(to *typed.ID[T, Order]) error { return to.ScanRedis(text) })
		}
	}
	text := "order_" + plain
	if got, err := typed.Parse[typed.ID[T, User]](text); err == nil {
		t.Errorf("a kind without a prefix reads %q as %v", text, got)
	}
	var user typed.ID[T, User]
	if user.ScanRedis(text) == nil || user.UnmarshalJSON([]byte(`"`+text+`"`)) == nil || user.UnmarshalGQL(text) == nil {
		t.Errorf("a kind without a prefix reads %q as %v", text, user)
	}
	var order typed.ID[T, Order]
	if order.UnmarshalJSON([]byte("12")) == nil || order.UnmarshalGQL(12) == nil || order.UnmarshalGQL(nil) == nil || order.UnmarshalJSON([]byte(text)) == nil {
		t.Errorf("a kind with a prefix reads a number or a bare word as %v", order)
	}
}

// refusals checks that the errors of the plain ID come through, for values that are not IDs.
func refusals[T typed.Untyped[T], K any, P reading[T]](t *testing.T, ids []T) {
	var bad T
	v := reflect.ValueOf(&bad).Elem()
	for v.Kind() == reflect.Struct {
		v = v.Field(0)
	}
	if v.Kind() != reflect.Int64 {
		return
	}
	v.SetInt(-1)
	id := typed.As[Order](bad)
	_, want := bad.MarshalText()
	for _, write := range []func() ([]byte, error){
		id.MarshalText, id.MarshalJSON, id.MarshalBinary, func() ([]byte, error) { return id.AppendText(nil) }, func() ([]byte, error) { return id.AppendBinary(nil) },
	} {
		if b, err := write(); err == nil || err.Error() != want.Error() || len(b) > 0 {
			t.Errorf("-1: %q, %v; want %v", b, err, want)
		}
	}
	if got, err := typed.Parse[typed.ID[T, Order]](id.String()); err == nil {
		t.Errorf("%s is %v", id, got)
	}
	testkit.Same(t, id.String(), "order_"+bad.String())
}

// The error of the plain ID has its place in the whole text.
func TestOffset(t *testing.T) {
	_, err := typed.Parse[OrderID]("order_0549x5l2itv!4")
	parse, ok := errors.AsType[*iderr.ParseError](err)
	if want := len("order_0549x5l2itv"); !ok || parse.Offset != want || !errors.Is(err, iderr.ErrCharacter) {
		t.Errorf("%v, want offset %d", err, want)
	}
}

// Of returns the results of a generator.
func TestOf(t *testing.T) {
	id, err := typed.Of[Order](nanoflake.Parse("0549x5l2itvr4"))
	if want := (typed.As[Order](nanoflake.MustParse("0549x5l2itvr4"))); err != nil || id != want {
		t.Errorf("%v, %v", id, err)
	}
	if id, err := typed.Of[Order](nanoflake.Parse("!")); err == nil || !id.IsZero() {
		t.Errorf("%v, %v", id, err)
	}
	defer func() {
		if _, ok := recover().(*iderr.ParseError); !ok {
			t.Error("MustParse does not panic")
		}
	}()
	typed.MustParse[OrderID]("user_0549x5l2itvr4")
}

// Kinds with a bad prefix, and kinds that are not empty structs.
type (
	capital  struct{}
	empty    struct{}
	long     struct{}
	longest  struct{}
	pointer  struct{}
	hidden   interface{ IDPrefix() string }
	promoted struct{ Lamp }
)

func (capital) IDPrefix() string  { return "Cap" }
func (empty) IDPrefix() string    { return "" }
func (long) IDPrefix() string     { return strings.Repeat("a", 64) }
func (longest) IDPrefix() string  { return strings.Repeat("a", 63) }
func (*pointer) IDPrefix() string { return "pointer" }

func badKind[K any](t *testing.T, in string) {
	t.Helper()
	id := typed.As[K](nanoflake.ID(7))
	_, err := typed.Prefix[K]()
	if _, ok := errors.AsType[*iderr.ConfigError](err); !ok || !strings.Contains(err.Error(), in) {
		t.Errorf("Prefix: %v", err)
		return
	}
	_, text := id.MarshalText()
	_, add := id.AppendText(nil)
	_, js := id.MarshalJSON()
	_, parse := typed.Parse[typed.ID[nanoflake.ID, K]]("0549x5l2itvr4")
	for i, got := range []error{text, add, js, parse, id.UnmarshalText(nil), id.UnmarshalJSON([]byte("null")), id.UnmarshalGQL("a"), id.UnmarshalParam("a"), id.ScanRedis("a")} {
		if !reflect.DeepEqual(got, err) {
			t.Errorf("%d: %v, want %v", i, got, err)
		}
	}
	if s := id.String(); s != "typed(0000000000007)" || fmt.Sprint(id) != s {
		t.Errorf("text %s", s)
	}
	if v, err := id.Value(); v != int64(7) || err != nil {
		t.Errorf("Value: %v, %v", v, err)
	}
}

func goodKind[K any](t *testing.T, want string) {
	t.Helper()
	if got, err := typed.Prefix[K](); got != want || err != nil {
		t.Errorf("Prefix is %q, %v; want %q", got, err, want)
	}
}

func TestPrefix(t *testing.T) {
	goodKind[Order](t, "order")
	goodKind[Lamp](t, "lamp_2")
	goodKind[promoted](t, "lamp_2")
	goodKind[longest](t, strings.Repeat("a", 63))
	for _, none := range []func(*testing.T, string){goodKind[User], goodKind[Freight], goodKind[int], goodKind[any], goodKind[*Order], goodKind[hidden]} {
		none(t, "")
	}
	badKind[capital](t, "Cap")
	badKind[empty](t, "1 to 63")
	badKind[long](t, "1 to 63")
	badKind[pointer](t, "func (K)")
}

// said is the prefix of the kind variable, for tests of many prefixes.
var said string

type variable struct{}

func (variable) IDPrefix() string { return said }

func TestCharactersOfPrefix(t *testing.T) {
	for _, said = range []string{"a", "z9", "order", "order_item", "a__b", "a_9"} {
		goodKind[variable](t, said)
		text := said + "_0549x5l2itvr4"
		if id, err := typed.Parse[typed.ID[nanoflake.ID, variable]](text); err != nil || id.String() != text {
			t.Errorf("%q is %v, %v", text, id, err)
		}
	}
	for _, said = range []string{"", "_", "_a", "a_", "9a", "A", "aB", "a-b", "a b", "é", "a\x00", "a/", "`", "a{", "a:"} {
		badKind[variable](t, "1 to 63")
	}
}

// IDs are keys of maps, and sort.
func TestKeys(t *testing.T) {
	order := func(v nanoflake.ID) OrderID { return typed.As[Order](v) }
	ids := []OrderID{order(3), order(1), order(2)}
	slices.SortFunc(ids, OrderID.Compare)
	if ids[0].Plain() != 1 || ids[2].Plain() != 3 {
		t.Errorf("sorted: %v", ids)
	}
	m := map[OrderID]int{ids[0]: 1}
	if m[order(1)] != 1 || m[order(2)] != 0 {
		t.Errorf("map %v", m)
	}
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// pointing embeds a pointer to an ID, which is nil in the zero value.
type pointing struct{ *nanoflake.ID }

func (p pointing) Compare(q pointing) int { return p.ID.Compare(*q.ID) }

func (p *pointing) UnmarshalText(text []byte) error {
	p.ID = new(nanoflake.ID)
	return p.ID.UnmarshalText(text)
}

// TestPointer: a bad text is an error, whatever T is.
func TestPointer(t *testing.T) {
	for _, text := range []string{"nope", "user_nope", "user_", ""} {
		var id typed.ID[pointing, User]
		if err := id.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as an ID", text)
		}
	}
}

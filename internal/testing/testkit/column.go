package testkit

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
)

// Stored has the methods of IDs that databases and payloads use.
type Stored[S any] interface {
	comparable
	fmt.Stringer
	fmt.Formatter
	driver.Valuer
	MarshalBSONValue() (byte, []byte, error)
	MarshalBinary() ([]byte, error)
	MarshalGQL(io.Writer)
	GormDataType() string
	Compare(S) int
	IsZero() bool
	Hex() string
}

// StoredPointer has the methods of pointers to IDs that databases and payloads use.
type StoredPointer[S any] interface {
	*S
	sql.Scanner
	UnmarshalBSONValue(byte, []byte) error
	UnmarshalGQL(any) error
	ScanRedis(string) error
	UnmarshalParam(string) error
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
}

// Forms are the forms that a column can have.
type Forms uint8

const (
	Integers Forms = 1 << iota
	Texts
	Bytes
	Doubles // in BSON
)

// A Column is a Go type of IDs, as databases see it, and the model to compare with.
type Column[S Stored[S], P StoredPointer[S]] struct {
	Model  Model
	Type   string // in errors
	Writes Forms  // one form
	Reads  Forms
	SQL    string // the type of columns that GORM makes
	Else   string // a word of the remedy for columns of another type

	// Published says that Value and Scan obey the API that package sno replaces. Value stores the zero ID,
	// Scan reads NULL and nothing as the zero ID, and bytes are the binary form alone. pgx, which has methods
	// of its own, stores no zero ID, and reads texts as bytes.
	Published bool

	Make  func(*big.Int) S
	Value func(S) *big.Int
}

var before = big.NewInt(424242)

// store returns what a database is given for a value that is not zero.
func (c Column[S, P]) store(v *big.Int) driver.Value {
	switch c.Writes {
	case Integers:
		return v.Int64()
	case Texts:
		return c.Model.Text(v)
	}
	return v.FillBytes(make([]byte, c.Model.Bytes))
}

// refusal is what the model says to a form that the column does not read.
var refusal = Refusal{Type, -1}

// scan is the model of Scan.
func (c Column[S, P]) scan(src any) (*big.Int, Refusal) {
	switch v := src.(type) {
	case nil:
		if c.Published {
			return new(big.Int), accepted
		}
		return nil, Refusal{NoID, -1}
	case int64:
		return c.integer(big.NewInt(v))
	case uint64:
		return c.integer(new(big.Int).SetUint64(v))
	case string:
		switch {
		case c.Published && v == "":
			return new(big.Int), accepted
		case c.Reads&Texts == 0:
			return nil, refusal
		}
		return c.Model.Parse(v)
	case []byte:
		if c.Published && len(v) > 0 && len(v) != c.Model.Bytes {
			return nil, Refusal{Length, -1}
		}
		return c.scanBytes(v)
	}
	return nil, refusal
}

// scanBytes is the model of ScanBytes, and of Scan for bytes.
func (c Column[S, P]) scanBytes(v []byte) (*big.Int, Refusal) {
	switch {
	case c.Published && len(v) == 0:
		return new(big.Int), accepted
	case v == nil: // NULL, as pgx hands it over
		return c.scan(nil)
	case c.Reads&Bytes != 0 && len(v) == c.Model.Bytes:
		return c.Model.Binary(v)
	case c.Reads&Texts != 0:
		return c.Model.Parse(string(v))
	}
	return nil, refusal
}

func (c Column[S, P]) integer(v *big.Int) (*big.Int, Refusal) {
	switch {
	case c.Reads&Integers == 0:
		return nil, refusal
	case v.Sign() < 0 || v.Cmp(c.Model.Max()) > 0:
		return nil, Refusal{Range, -1}
	}
	return v, accepted
}

// bson is the model of UnmarshalBSONValue. Specification: bsonspec.org.
func (c Column[S, P]) bson(kind byte, data []byte) (*big.Int, Refusal) {
	length := -1
	if len(data) >= 4 {
		length = int(int32(binary.LittleEndian.Uint32(data)))
	}
	switch {
	case kind == 0x0a:
		return nil, Refusal{NoID, -1}
	case kind == 0x12 && len(data) == 8:
		return c.integer(big.NewInt(int64(binary.LittleEndian.Uint64(data))))
	case kind == 0x10 && len(data) == 4:
		return c.integer(big.NewInt(int64(int32(binary.LittleEndian.Uint32(data)))))
	case kind == 0x01 && len(data) == 8 && c.Reads&Doubles != 0:
		f := math.Float64frombits(binary.LittleEndian.Uint64(data))
		if v, exact := new(big.Float).SetFloat64(0), f >= 0 && f < 1<<53 && f == math.Floor(f); exact {
			whole, _ := v.SetFloat64(f).Int(nil)
			return c.integer(whole)
		}
		return nil, Refusal{Range, -1}
	case kind == 0x02 && c.Reads&Texts != 0 && len(data) >= 5 && length == len(data)-4 && data[len(data)-1] == 0:
		return c.Model.Parse(string(data[4 : len(data)-1]))
	case kind == 0x05 && c.Reads&Bytes != 0 && len(data) >= 5 && length == len(data)-5 && data[4] == 0:
		return c.Model.Binary(data[5:])
	}
	return nil, refusal
}

// check reads a value and compares the result with the model's.
func (c Column[S, P]) check(t testing.TB, name string, read func(P) error, want *big.Int, r Refusal) {
	t.Helper()
	unchanged := c.Make(before)
	id := unchanged
	err := read(&id)
	switch {
	case r.Kind == Fine && err != nil:
		t.Errorf("%s: %s: %v, want %v", c.Type, name, err, want)
	case r.Kind == Fine && c.Value(id).Cmp(want) != 0:
		t.Errorf("%s: %s is %v, want %v", c.Type, name, c.Value(id), want)
	case r.Kind != Fine && err == nil:
		t.Errorf("%s: %s is %v, want an error", c.Type, name, c.Value(id))
	case r.Kind == Fine:
	case !errors.Is(err, sentinels[r.Kind]) || !strings.HasPrefix(err.Error(), c.Model.Name+": "):
		t.Errorf("%s: %s: %v, want %s", c.Type, name, err, r.Kind)
	case id != unchanged && !(c.Published && id.IsZero()):
		t.Errorf("%s: %s gave an error but set the ID to %v", c.Type, name, id)
	}
}

// values are the edges of the format, and values whose text or bytes look like another form.
func (c Column[S, P]) values() []*big.Int {
	limit := c.Model.Max()
	all := []*big.Int{big.NewInt(1), new(big.Int).Div(limit, big.NewInt(3)), limit}
	for _, digit := range []string{"1", "3"} {
		if v, r := c.Model.Parse(strings.Repeat(digit, c.Model.Texts[0].Max)); r.Kind == Fine {
			all = append(all, v) // a text of digits
		}
	}
	return all
}

// Test checks Value, Scan and the methods for BSON, GraphQL, Redis, parameters and fmt.
func (c Column[S, P]) Test(t *testing.T) {
	var zero S
	if v, err := zero.Value(); c.Published {
		if b, ok := v.([]byte); err != nil || !ok || !bytes.Equal(b, make([]byte, c.Model.Bytes)) {
			t.Errorf("Value of the zero ID: %v, %v", v, err)
		}
	} else if !errors.Is(err, iderr.ErrNoID) || storable(v) {
		t.Errorf("Value of the zero ID: %#v, %v", v, err)
	}
	if b, ok := any(zero).(interface{ BytesValue() ([]byte, error) }); ok && c.Writes == Bytes {
		if _, err := b.BytesValue(); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("BytesValue of the zero ID: %v", err)
		}
	}
	if _, _, err := zero.MarshalBSONValue(); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("BSON of the zero ID: %v", err)
	}
	if got := zero.GormDataType(); got != c.SQL {
		t.Errorf("GORM's type is %s", got)
	}
	for _, v := range c.values() {
		id := c.Make(v)
		stored, err := id.Value()
		if want := c.store(v); err != nil || fmt.Sprintf("%T %[1]v", stored) != fmt.Sprintf("%T %[1]v", want) {
			t.Errorf("Value of %v is %T %[2]v, %v; want %T %[4]v", id, stored, err, want)
		}
		bytes, _ := id.MarshalBinary()
		texts := []any{c.Model.Text(v), strings.ToUpper(c.Model.Text(v)), v.String(), ""}
		for _, e := range c.Model.Texts {
			texts = append(texts, e.Encode(v))
		}
		sources := append([]any{stored, bytes, append(bytes, 1), bytes[1:], nil, []byte(nil), []byte{}}, texts...)
		for _, text := range texts {
			sources = append(sources, []byte(text.(string)))
		}
		if v.IsInt64() {
			sources = append(sources, v.Int64(), v.Uint64(), -v.Int64(), v.Uint64()|1<<63)
		}
		for _, src := range sources {
			want, r := c.scan(src)
			c.check(t, fmt.Sprintf("Scan(%T %[1]q)", src), func(p P) error { return p.Scan(src) }, want, r)
			if b, ok := src.([]byte); ok {
				if _, ok := any(P(&id)).(scansBytes); ok {
					want, r := c.scanBytes(b)
					c.check(t, fmt.Sprintf("ScanBytes(%q)", b), func(p P) error { return any(p).(scansBytes).ScanBytes(b) }, want, r)
				}
			}
			var null sql.Null[S]
			if _, r := c.scan(src); src == nil || r.Kind == Fine {
				if err := P(&null.V).Scan(src); src != nil && err != nil {
					t.Errorf("%s: Scan(%T): %v", c.Type, src, err)
				}
				if err := null.Scan(src); err != nil || null.Valid != (src != nil) {
					t.Errorf("%s: sql.Null.Scan(%T %v) = %v, %v", c.Type, src, src, null, err)
				}
			}
		}
		c.owns(t, id)
		c.testBSON(t, v)
		c.testPayloads(t, v)
		c.testFormat(t, v)
	}
	for _, src := range []any{1.5, float32(1), true, time.Now(), []int{1}, struct{}{}, 1, int32(1), uint8(1), json.Number("1"),
		sql.NullInt64{Int64: 1, Valid: true}, c.Make(before), [16]byte{}} {
		c.check(t, fmt.Sprintf("Scan(%T)", src), func(p P) error { return p.Scan(src) }, nil, refusal)
		var id S
		if err := P(&id).Scan(src); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%T", src)) {
			t.Errorf("%s: Scan(%T) gave %v, which does not name the type", c.Type, src, err)
		}
	}
	var id S
	for _, src := range []any{int64(1), "1", []byte{1, 2, 3}} {
		if err := P(&id).Scan(src); errors.Is(err, iderr.ErrType) && !c.Published && !strings.Contains(err.Error(), c.Else) {
			t.Errorf("%s: Scan(%T) gave %v, which does not name %s", c.Type, src, err, c.Else)
		}
	}
}

// storable reports whether a database could store a value, were the error beside it dropped. GORM drops it, and takes nil for NULL.
func storable(v driver.Value) bool {
	_, err := driver.DefaultParameterConverter.ConvertValue(v)
	return err == nil
}

// scansBytes is pgtype.BytesScanner of pgx.
type scansBytes interface{ ScanBytes([]byte) error }

// owns checks that an ID keeps no memory of a driver.
func (c Column[S, P]) owns(t testing.TB, id S) {
	stored, err := id.Value()
	b, ok := stored.([]byte)
	if err != nil || !ok {
		return
	}
	var got S
	if err := P(&got).Scan(b); err != nil {
		t.Fatal(err)
	}
	clear(b)
	if got != id {
		t.Errorf("%s: Scan keeps its source", c.Type)
	}
}

// bsonOf are values of BSON for an integer and a text.
func bsonOf(v *big.Int, text string, data []byte) map[string]struct {
	kind byte
	data []byte
} {
	type value = struct {
		kind byte
		data []byte
	}
	float, _ := new(big.Float).SetInt(v).Float64()
	all := map[string]value{
		"double": {0x01, binary.LittleEndian.AppendUint64(nil, math.Float64bits(float))},
		"half":   {0x01, binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.5))},
		"NaN":    {0x01, binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))},
		"string": {0x02, append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text)+1)), text...), 0)},
		"open":   {0x02, append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)},
		"short":  {0x02, []byte{1, 0}},
		"binary": {0x05, append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), 0), data...)},
		"UUID":   {0x05, append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), 4), data...)},
		"true":   {0x08, []byte{1}}, "date": {0x09, make([]byte, 8)}, "ObjectID": {0x07, make([]byte, 12)},
		"null": {0x0a, nil}, "MinKey": {0xff, nil}, "int32": {0x10, []byte{7, 0, 0, 0}}, "-1": {0x10, []byte{255, 255, 255, 255}},
		"short int64": {0x12, []byte{1, 0, 0, 0}},
	}
	if v.IsInt64() {
		all["int64"] = value{0x12, binary.LittleEndian.AppendUint64(nil, v.Uint64())}
	}
	return all
}

func (c Column[S, P]) testBSON(t testing.TB, v *big.Int) {
	id := c.Make(v)
	kind, data, err := id.MarshalBSONValue()
	if err != nil {
		t.Fatal(err)
	}
	if want := map[Forms]byte{Integers: 0x12, Texts: 0x02, Bytes: 0x05}[c.Writes]; kind != want {
		t.Errorf("%s: BSON is of type %#x, want %#x", c.Type, kind, want)
	}
	c.check(t, "its own BSON", func(p P) error { return p.UnmarshalBSONValue(kind, data) }, v, accepted)
	bytes, _ := id.MarshalBinary()
	for name, value := range bsonOf(v, c.Model.Text(v), bytes) {
		want, r := c.bson(value.kind, value.data)
		c.check(t, "BSON of "+name, func(p P) error { return p.UnmarshalBSONValue(value.kind, value.data) }, want, r)
	}
}

// testPayloads checks GraphQL, Redis and parameters.
func (c Column[S, P]) testPayloads(t testing.TB, v *big.Int) {
	id, text := c.Make(v), c.Model.Text(v)
	var answer strings.Builder
	id.MarshalGQL(&answer)
	want := strconv.Quote(text)
	if c.Model.Number {
		want = text
	}
	if answer.String() != want {
		t.Errorf("%s: GraphQL's answer is %s, want %s", c.Type, &answer, want)
	}
	c.check(t, "GraphQL's text", func(p P) error { return p.UnmarshalGQL(text) }, v, accepted)
	c.check(t, "GraphQL's null", func(p P) error { return p.UnmarshalGQL(nil) }, nil, Refusal{NoID, -1})
	c.check(t, "GraphQL's boolean", func(p P) error { return p.UnmarshalGQL(true) }, nil, refusal)
	for _, number := range []string{v.String(), "-1", "1.5", "1e3", "99999999999999999999999"} {
		c.checkNumber(t, number)
	}
	bytes, _ := id.MarshalBinary()
	c.check(t, "Redis' bytes", func(p P) error { return p.ScanRedis(string(bytes)) }, v, accepted)
	c.check(t, "Redis' text", func(p P) error { return p.ScanRedis(text) }, v, accepted)
	c.check(t, "Redis' nothing", func(p P) error { return p.ScanRedis("") }, nil, Refusal{Length, -1})
	c.check(t, "a parameter", func(p P) error { return p.UnmarshalParam(text) }, v, accepted)
	c.check(t, "no parameter", func(p P) error { return p.UnmarshalParam("") }, nil, Refusal{Length, -1})
}

// checkNumber checks a number of GraphQL, which reads as the same number of JSON does. Other tests
// compare JSON with a model.
func (c Column[S, P]) checkNumber(t testing.TB, number string) {
	t.Helper()
	var id, want S
	err := P(&id).UnmarshalGQL(json.Number(number))
	bad := json.Unmarshal([]byte(number), &want)
	if json.Valid([]byte(number)) && strings.TrimSpace(number) == number && ((err == nil) != (bad == nil) || err == nil && id != want) || err != nil && !id.IsZero() {
		t.Errorf("%s: GraphQL's number %s is %v, %v; JSON's is %v, %v", c.Type, number, id, err, want, bad)
	}
	if n, not := strconv.ParseInt(number, 10, 64); not == nil && strconv.FormatInt(n, 10) == number {
		values := []any{n}
		if int64(int(n)) == n { // int has 32 bits on some processors
			values = append(values, int(n))
		}
		for _, v := range values {
			var same S
			if again := P(&same).UnmarshalGQL(v); (again == nil) != (err == nil) || same != id {
				t.Errorf("%s: GraphQL's %T %[2]v is %v, %v", c.Type, v, same, again)
			}
		}
	}
}

func (c Column[S, P]) testFormat(t testing.TB, v *big.Int) {
	id, text := c.Make(v), c.Model.Text(v)
	digits := hex.EncodeToString(v.FillBytes(make([]byte, c.Model.Bytes)))
	want := map[string]string{
		"%v": text, "%s": text, "%+v": text, "%q": strconv.Quote(text), "%x": digits, "%X": strings.ToUpper(digits), "%#x": "0x" + digits,
		"%50s": fmt.Sprintf("%50s", text), "%-50v|": fmt.Sprintf("%-50s|", text), "%.3s": text[:min(3, len(text))], "%t": "%!t(" + text + ")",
	}
	want["%d"] = "%!d(" + text + ")"
	if c.Model.Decimal != nil {
		want["%d"], want["%25d"] = v.String(), fmt.Sprintf("%25d", v)
	}
	for verb, want := range want {
		if got := fmt.Sprintf(verb, id); got != want {
			t.Errorf("%s: %s is %s, want %s", c.Type, verb, got, want)
		}
	}
	pkg, _, _ := strings.Cut(c.Type, ".")
	of := ""
	if _, name, _ := strings.Cut(c.Type, "."); !strings.HasSuffix(name, "ID") {
		of = "." + strings.TrimPrefix(name, "Scalable") + "()" // the method that makes the type
	}
	if got := fmt.Sprintf("%#v", id); !strings.HasPrefix(got, pkg+".MustParse") || !strings.HasSuffix(got, "("+strconv.Quote(text)+")"+of) {
		t.Errorf("%s: %%#v is %s", c.Type, got)
	}
}

// Fuzz fuzzes all methods that read, with the same input as each of their types.
func (c Column[S, P]) Fuzz(f *testing.F) {
	f.Add(byte('<'), []byte("00")) // an integer in Go, and no number in JSON
	for _, v := range c.values() {
		bytes := v.FillBytes(make([]byte, c.Model.Bytes))
		f.Add(byte(0x05), bytes)
		f.Add(byte(0x02), []byte(c.Model.Text(v)))
		for _, value := range bsonOf(v, c.Model.Text(v), bytes) {
			f.Add(value.kind, value.data)
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		want, r := c.scan(string(b))
		c.check(t, "Scan(string)", func(p P) error { return p.Scan(string(b)) }, want, r)
		want, r = c.scan(b)
		c.check(t, "Scan([]byte)", func(p P) error { return p.Scan(b) }, want, r)
		var id S
		if _, ok := any(P(&id)).(scansBytes); ok {
			want, r = c.scanBytes(b)
			c.check(t, "ScanBytes", func(p P) error { return any(p).(scansBytes).ScanBytes(b) }, want, r)
		}
		want, r = c.bson(kind, b)
		c.check(t, "UnmarshalBSONValue", func(p P) error { return p.UnmarshalBSONValue(kind, b) }, want, r)
		want, r = c.Model.Parse(string(b))
		c.check(t, "UnmarshalParam", func(p P) error { return p.UnmarshalParam(string(b)) }, want, r)
		c.check(t, "UnmarshalText", func(p P) error { return p.UnmarshalText(b) }, want, r)
		c.check(t, "UnmarshalGQL", func(p P) error { return p.UnmarshalGQL(string(b)) }, want, r)
		want, r = c.Model.Binary(b)
		c.check(t, "UnmarshalBinary", func(p P) error { return p.UnmarshalBinary(b) }, want, r)
		want, r = c.Model.Bare(b)
		unchanged := c.Make(before)
		read := unchanged
		switch err := P(&read).UnmarshalJSON(b); {
		case (err == nil) != (r.Kind == Fine) || err == nil && c.Value(read).Cmp(want) != 0:
			t.Errorf("%s: UnmarshalJSON(%q) is %v, %v; want %v, %v", c.Type, b, read, err, want, r)
		case err != nil && read != unchanged:
			t.Errorf("%s: UnmarshalJSON(%q) gave an error but set the ID to %v", c.Type, b, read)
		}
		want, r = c.Model.Parse(string(b))
		c.checkNumber(t, string(b))
		if v, binary := c.Model.Binary(b); binary.Kind == Fine || len(b) == c.Model.Bytes && !c.Model.Number {
			want, r = v, binary
		}
		c.check(t, "ScanRedis", func(p P) error { return p.ScanRedis(string(b)) }, want, r)
	})
}

// Mirrors checks that C, the type of a column, has the methods of the ID type T. The methods without
// arguments return the same for both, except for the methods of the column.
func Mirrors[T ID[T], C ID[C]](t *testing.T, ids []T, of func(T) C) {
	t.Helper()
	column := []string{"Value", "BytesValue", "GormDataType", "Stored", "MarshalBSONValue"} // differ
	plain, kind := reflect.TypeFor[*T](), reflect.TypeFor[*C]()
	for m := range plain.Methods() {
		if _, ok := kind.MethodByName(m.Name); !ok && m.Name != "Text" && m.Name != "Binary" {
			t.Errorf("%v has no method %s", kind, m.Name)
		}
	}
	for _, id := range ids {
		a, b := reflect.ValueOf(id), reflect.ValueOf(of(id))
		for i := range a.NumMethod() {
			name := a.Type().Method(i).Name
			m := b.MethodByName(name)
			if slices.Contains(column, name) || !m.IsValid() || m.Type().NumIn() > 0 {
				continue
			}
			want, got := a.Method(i).Call(nil), m.Call(nil)
			for j := range want {
				if !reflect.DeepEqual(got[j].Interface(), want[j].Interface()) {
					t.Errorf("%s of %v is %v, want %v", name, of(id), got[j], want[j])
				}
			}
		}
		for _, verb := range []string{"%v", "%s", "%q", "%x", "%X", "%#x", "%d", "%40s"} {
			if got, want := fmt.Sprintf(verb, of(id)), fmt.Sprintf(verb, id); got != want {
				t.Errorf("%s of %v is %s, want %s", verb, id, got, want)
			}
		}
		if a, b := of(id).Compare(of(ids[0])), id.Compare(ids[0]); a != b {
			t.Errorf("Compare of %v is %d, want %d", id, a, b)
		}
		if _, err := json.Marshal(id); err == nil {
			Logs(t, of(id))
		}
	}
}

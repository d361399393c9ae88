package typed_test

import (
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/typed"
)

// writer has the methods that write an ID.
type writer interface {
	fmt.Stringer
	encoding.TextAppender
	encoding.TextMarshaler
	json.Marshaler
	driver.Valuer
}

// BenchmarkID calls each method of an ID beside the method of the plain ID, through an interface,
// as package json and database/sql do.
func BenchmarkID(b *testing.B) {
	plain := nanoflake.MustParse("0549x5l2itvr4")
	type userID = typed.ID[nanoflake.ID, User]
	b.Run("nanoflake.ID/plain", func(b *testing.B) { benchmarkID[nanoflake.ID](b, plain, nanoflake.Parse) })
	b.Run("nanoflake.ID/kind", func(b *testing.B) { benchmarkID[userID](b, typed.As[User](plain), typed.Parse[userID]) })
	b.Run("nanoflake.ID/prefix", func(b *testing.B) { benchmarkID[OrderID](b, typed.As[Order](plain), typed.Parse[OrderID]) })

	long := scru160.Max().Binary()
	type longUserID = typed.ID[scru160.Binary, User]
	type longOrderID = typed.ID[scru160.Binary, Order]
	parse := func(s string) (scru160.Binary, error) {
		id, err := scru160.Parse(s)
		return id.Binary(), err
	}
	b.Run("scru160.Binary/plain", func(b *testing.B) { benchmarkID[scru160.Binary](b, long, parse) })
	b.Run("scru160.Binary/kind", func(b *testing.B) { benchmarkID[longUserID](b, typed.As[User](long), typed.Parse[longUserID]) })
	b.Run("scru160.Binary/prefix", func(b *testing.B) { benchmarkID[longOrderID](b, typed.As[Order](long), typed.Parse[longOrderID]) })
}

func benchmarkID[I writer, P interface {
	*I
	encoding.TextUnmarshaler
	json.Unmarshaler
	Scan(src any) error
}](b *testing.B, written I, parse func(string) (I, error)) {
	var id writer = written
	var to interface {
		encoding.TextUnmarshaler
		json.Unmarshaler
		Scan(src any) error
	} = P(new(I))
	text, js, buffer, value := must(id.MarshalText()), must(id.MarshalJSON()), make([]byte, 0, 64), must(id.Value())
	s := string(text)
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"String", func() error { _ = id.String(); return nil }},
		{"AppendText", func() error { _, err := id.AppendText(buffer); return err }},
		{"MarshalText", func() error { _, err := id.MarshalText(); return err }},
		{"MarshalJSON", func() error { _, err := id.MarshalJSON(); return err }},
		{"Value", func() error { _, err := id.Value(); return err }},
		{"Parse", func() error { _, err := parse(s); return err }},
		{"UnmarshalText", func() error { return to.UnmarshalText(text) }},
		{"UnmarshalJSON", func() error { return to.UnmarshalJSON(js) }},
		{"Scan", func() error { return to.Scan(value) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if err := c.call(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkJSON writes and reads a struct with an ID by package json.
func BenchmarkJSON(b *testing.B) {
	plain := nanoflake.MustParse("0549x5l2itvr4")
	b.Run("plain", func(b *testing.B) { benchmarkJSON(b, plain) })
	b.Run("kind", func(b *testing.B) { benchmarkJSON(b, typed.As[User](plain)) })
	b.Run("prefix", func(b *testing.B) { benchmarkJSON(b, typed.As[Order](plain)) })
}

func benchmarkJSON[I any](b *testing.B, id I) {
	type row struct {
		ID     I
		Name   string
		Amount int64
	}
	in := &row{id, "a lamp", 1999}
	data := must(json.Marshal(in))
	b.Run("Marshal", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Unmarshal", func(b *testing.B) {
		for b.Loop() {
			var out row
			if err := json.Unmarshal(data, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
}

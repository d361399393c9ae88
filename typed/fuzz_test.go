package typed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/typed"
)

// inputs adds texts of all formats, with and without prefixes.
func inputs(f *testing.F, add func(string)) {
	for _, head := range []string{"", "order_", "order_order_", "Order_", "lamp_2_", "order"} {
		for _, text := range []string{
			"", "0549x5l2itvr4", "0549X5L2ITVR4", "12", "9007199254740991", strings.Repeat("0", 32), strings.Repeat("v", 32), "2222222222222222", "a_123456", "null", "\xff",
		} {
			add(head + text)
		}
	}
}

// same compares a decoder of an ID with the decoder of a plain ID. If fine is false, the decoder
// of the ID must refuse in any case. IDs start with a value, which an error must treat as the
// plain ID does.
func same[T typed.Untyped[T], K any](t *testing.T, what string, fine bool, got func(*typed.ID[T, K]) error, want func(*T) error) {
	t.Helper()
	var id typed.ID[T, K]
	var plain T
	err := got(&id)
	if !fine {
		if err == nil {
			t.Errorf("%s reads as %v", what, id)
		}
		return
	}
	refused := want(&plain)
	if (err == nil) != (refused == nil) || id.Plain() != plain {
		t.Errorf("%s: %v, %v; the plain ID %v, %v", what, id, err, plain, refused)
	}
}

func FuzzText(f *testing.F) {
	inputs(f, func(s string) { f.Add(s) })
	f.Fuzz(func(t *testing.T, s string) {
		fuzzText[nanoflake.ID](t, s)
		fuzzText[snowflakesi.ID](t, s)
		fuzzText[scru160.Binary](t, s)
		fuzzText[sno.ID](t, s)
	})
}

func fuzzText[T typed.Untyped[T], P reading[T]](t *testing.T, s string) {
	rest, ok := strings.CutPrefix(s, "order_")
	what := fmt.Sprintf("%T of %q", *new(T), s)
	plain := func(id *T) error { return P(id).UnmarshalText([]byte(rest)) }
	same(t, what, ok, func(id *typed.ID[T, Order]) error { return id.UnmarshalText([]byte(s)) }, plain)
	same(t, what, ok, func(id *typed.ID[T, Order]) error { return id.UnmarshalParam(s) }, plain)
	same(t, what, ok, func(id *typed.ID[T, Order]) error { return id.UnmarshalGQL(s) }, plain)
	same(t, what, ok, func(id *typed.ID[T, Order]) (err error) { *id, err = typed.Parse[typed.ID[T, Order]](s); return err }, plain)
	same(t, what, true, func(id *typed.ID[T, User]) error { return id.UnmarshalText([]byte(s)) }, func(id *T) error { return P(id).UnmarshalText([]byte(s)) })
}

func FuzzJSON(f *testing.F) {
	inputs(f, func(s string) { f.Add([]byte(s)); f.Add([]byte(`"` + s + `"`)) })
	f.Add([]byte(`"\u006frder_0549x5l2itvr4"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzJSON[nanoflake.ID](t, data)
		fuzzJSON[snowflakesi.ID](t, data)
		fuzzJSON[scru160.Binary](t, data)
		fuzzJSON[sno.ID](t, data)
	})
}

func fuzzJSON[T typed.Untyped[T], P reading[T]](t *testing.T, data []byte) {
	what := fmt.Sprintf("%T of %q", *new(T), data)
	same(t, what, true, func(id *typed.ID[T, User]) error { return id.UnmarshalJSON(data) }, func(id *T) error { return P(id).UnmarshalJSON(data) })
	if !json.Valid(data) {
		return // package json calls no method
	}
	var s *string
	fine := json.Unmarshal(data, &s) == nil
	rest := ""
	if fine && s != nil {
		rest, fine = strings.CutPrefix(*s, "order_")
	}
	same(t, what, fine, func(id *typed.ID[T, Order]) error { return json.Unmarshal(data, id) }, func(id *T) error {
		if s == nil {
			return nil
		}
		return P(id).UnmarshalText([]byte(rest))
	})
}

func FuzzBytes(f *testing.F) {
	for _, n := range []int{0, 4, 8, 9, 10, 20, 24} {
		for _, c := range []byte{0, 1, 0x7f, 0xff} {
			f.Add(bytes.Repeat([]byte{c}, n), byte(n))
		}
	}
	inputs(f, func(s string) { f.Add([]byte(s), byte(2)) })
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		fuzzBytes[nanoflake.ID](t, data, kind)
		fuzzBytes[nanoflake.Text](t, data, kind)
		fuzzBytes[scru160.ID](t, data, kind)
		fuzzBytes[scru160.Binary](t, data, kind)
		fuzzBytes[sno.ID](t, data, kind)
	})
}

func fuzzBytes[T typed.Untyped[T], P reading[T]](t *testing.T, data []byte, kind byte) {
	what := fmt.Sprintf("%T of %q", *new(T), data)
	same(t, what, true, func(id *typed.ID[T, Order]) error { return id.UnmarshalBinary(data) }, func(id *T) error { return P(id).UnmarshalBinary(data) })
	same(t, what, true, func(id *typed.ID[T, Order]) error { return id.Scan(data) }, func(id *T) error { return P(id).Scan(data) })
	same(t, what, true, func(id *typed.ID[T, Order]) error { return id.Scan(string(data)) }, func(id *T) error { return P(id).Scan(string(data)) })
	same(t, what, true, func(id *typed.ID[T, Order]) error { return id.UnmarshalBSONValue(kind, data) }, func(id *T) error { return P(id).UnmarshalBSONValue(kind, data) })
	same(t, what, true, func(id *typed.ID[T, Order]) error { return id.ScanRedis(string(data)) }, func(id *T) error {
		if rest, ok := strings.CutPrefix(string(data), "order_"); ok {
			return P(id).UnmarshalText([]byte(rest))
		}
		return P(id).UnmarshalBinary(data)
	})
}

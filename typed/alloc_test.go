//go:build !race

package typed_test

import (
	"testing"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/typed"
)

func TestAllocations(t *testing.T) {
	allocations[nanoflake.ID, User](t, "nanoflake.ID", 1)
	allocations[nanoflake.ID, Freight](t, "nanoflake.ID of a large kind", 1)
	allocations[nanoflake.ID, Order](t, "nanoflake.ID with prefix", 1)
	allocations[nanoflake.Text, Order](t, "nanoflake.Text with prefix", nanoflake.ID(1).Text())
	allocations[snowflakesi.ID, Order](t, "snowflakesi.ID with prefix", snowflakesi.Max)
	allocations[scru160.ID, User](t, "scru160.ID", scru160.Max())
	allocations[scru160.Binary, Order](t, "scru160.Binary with prefix", scru160.Max().Binary())
	allocations[sno.ID, Order](t, "sno.ID with prefix", sno.ID{9: 1})
}

// allocations checks how many allocations each method adds to the allocations of the plain ID's
// method.
func allocations[T typed.Untyped[T], K any, P reading[T]](t *testing.T, name string, plain T) {
	type kindID = typed.ID[T, K]
	id := typed.As[K](plain)
	text, js, binary := must(id.MarshalText()), must(id.MarshalJSON()), must(id.MarshalBinary())
	plainText, plainJS := must(plain.MarshalText()), must(plain.MarshalJSON())
	value, _ := plain.Value()
	s, plainString := string(text), string(plainText)
	prefixed := 0.0
	if len(text) > len(plainText) {
		prefixed = 1
	}
	to, plainTo, buffer := heap(new(kindID)), heap(P(new(T))), heap(make([]byte, 0, 128)) // as in a struct that package json fills
	for _, c := range []struct {
		name     string
		f, plain func()
		added    float64
	}{
		{"String", func() { _ = id.String() }, func() { _ = plain.String() }, prefixed}, // the plain text, before the prefix
		{"MarshalText", func() { _, _ = id.MarshalText() }, func() { _, _ = plain.MarshalText() }, 0},
		{"MarshalJSON", func() { _, _ = id.MarshalJSON() }, func() { _, _ = plain.MarshalJSON() }, 0},
		{"MarshalBinary", func() { _, _ = id.MarshalBinary() }, func() { _, _ = plain.MarshalBinary() }, 0},
		{"Value", func() { _, _ = id.Value() }, func() { _, _ = plain.Value() }, 0},
		{"AppendText", func() { _, _ = id.AppendText(buffer) }, func() { _, _ = plain.AppendText(buffer) }, 0},
		{"AppendBinary", func() { _, _ = id.AppendBinary(buffer) }, func() { _, _ = plain.AppendBinary(buffer) }, 0},
		{"UnmarshalText", func() { _ = to.UnmarshalText(text) }, func() { _ = plainTo.UnmarshalText(plainText) }, 0},
		{"UnmarshalJSON", func() { _ = to.UnmarshalJSON(js) }, func() { _ = plainTo.UnmarshalJSON(plainJS) }, 0},
		{"UnmarshalBinary", func() { _ = to.UnmarshalBinary(binary) }, func() { _ = plainTo.UnmarshalBinary(binary) }, 0},
		{"Scan", func() { _ = to.Scan(value) }, func() { _ = plainTo.Scan(value) }, 0},
		{"Compare", func() { id.Compare(id) }, func() {}, 0},
		{"IsZero", func() { id.IsZero() }, func() {}, 0},
		{"GormDataType", func() { id.GormDataType() }, func() {}, 0},

		// What a method through an interface moves to the heap.
		{"UnmarshalParam", func() { _ = to.UnmarshalParam(s) }, func() { _ = plainTo.UnmarshalParam(plainString) }, 1}, // the bytes
		{"Parse", func() { _, _ = typed.Parse[kindID](s) }, func() {}, 2},                                              // the ID and the bytes
		{"UnmarshalText of a variable on the stack", func() { var v kindID; _ = v.UnmarshalText(text) }, func() { _ = plainTo.UnmarshalText(plainText) }, 1},
		{"AppendText to a buffer on the stack", func() { var b [128]byte; _, _ = id.AppendText(b[:0]) }, func() {}, 1},
	} {
		want := testing.AllocsPerRun(100, c.plain) + c.added
		if n := testing.AllocsPerRun(100, c.f); n > want {
			t.Errorf("%s: %s: %v allocations, want %v", name, c.name, n, want)
		}
	}
}

var escaped any

// heap returns v, whose memory is on the heap.
func heap[V any](v V) V {
	escaped = v
	return v
}

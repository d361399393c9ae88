package testkit

import (
	"context"
	"testing"
)

// Allocations checks allocations: reading and writing IDs allocates only the result, and a
// generator allocates nothing, also in exhausted ticks. The race detector allocates. Build tests
// with Allocations without the race detector.
func (s Suite[T, P]) Allocations(t *testing.T, generators map[string]Generator[T]) {
	v := s.edges()[2]
	id := s.Make(v)
	text, hexText, decimalText := s.Model.Text(v), s.Model.Hex.Encode(v), decimal(1).Encode(v)
	input, binary := []byte(text), v.FillBytes(make([]byte, s.Model.Bytes))
	room := make([]byte, 0, 64)
	var sink T
	zero := func(name string, f func() error) {
		t.Helper()
		allocations(t, name, 0, f)
	}
	allocations(t, "String", 1, func() error { stringSink = id.String(); return nil })
	zero("AppendText", func() error { _, err := id.AppendText(room); return err })
	zero("AppendBinary", func() error { _, err := id.AppendBinary(room); return err })
	zero("Parse", func() (err error) { sink, err = s.Parse(text); return err })
	zero("ParseHex", func() (err error) { sink, err = s.ParseHex(hexText); return err })
	zero("UnmarshalText", func() error { return P(&sink).UnmarshalText(input) })
	zero("UnmarshalBinary", func() error { return P(&sink).UnmarshalBinary(binary) })
	zero("FromBytes", func() (err error) { sink, err = s.FromBytes(binary); return err })
	if s.ParseDecimal != nil {
		zero("ParseDecimal", func() (err error) { sink, err = s.ParseDecimal(decimalText); return err })
	}
	ctx := context.Background()
	for name, gen := range generators {
		// The first wait allocates places, and later waits use these places again.
		for range 20_000 {
			if _, err := gen.Next(ctx); err != nil {
				t.Fatal(err)
			}
		}
		run := make([]T, 500)
		zero(name+" Next", func() error { _, err := gen.Next(ctx); return err })
		zero(name+" TryNext", func() error { gen.TryNext(); return nil })
		zero(name+" Next, 5000 times", func() error {
			for range 5000 {
				if _, err := gen.Next(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		zero(name+" Fill", func() error { _, err := gen.Fill(ctx, run); return err })
		zero(name+" TryFill", func() error { gen.TryFill(run); return nil })
	}
	_ = sink
}

//lint:ignore U1000 written so that the compiler does not drop the text
var stringSink string

func allocations(t *testing.T, name string, want float64, f func() error) {
	t.Helper()
	var failed error
	if got := testing.AllocsPerRun(50, func() {
		if err := f(); err != nil {
			failed = err
		}
	}); got != want || failed != nil {
		t.Errorf("%s allocates %v times, want %v; %v", name, got, want, failed)
	}
}

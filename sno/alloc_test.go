//go:build !race

package sno_test

import (
	"context"
	"testing"

	"github.com/firn-id/firn/sno"
)

func TestAllocations(t *testing.T) {
	g := newGenerator(t, sno.Config{})
	ctx := context.Background()
	id := g.New(0)
	text, binary, buffer := id.String(), id.Bytes(), make([]byte, 0, 64)
	batch := make([]sno.ID, 100)
	for _, c := range []struct {
		name string
		most float64
		f    func()
	}{
		{"sno.New", 0, func() { sno.New(1) }},
		{"sno.NewWithTime", 0, func() { sno.NewWithTime(1, epoch) }},
		{"New", 0, func() { g.New(1) }},
		{"NewWithTime", 0, func() { g.NewWithTime(1, epoch) }},
		{"Next", 0, func() { _, _ = g.Next(ctx, 1) }},
		{"TryNext", 0, func() { _, _ = g.TryNext(1) }},
		{"Fill", 0, func() { _, _ = g.Fill(ctx, 1, batch) }},
		{"TryFill", 0, func() { _, _ = g.TryFill(1, batch) }},
		{"Snapshot", 0, func() { g.Snapshot() }},
		{"Len", 0, func() { g.Len() }},
		{"Sequence", 0, func() { g.Sequence() }},
		{"AppendText", 0, func() { buffer, _ = id.AppendText(buffer[:0]) }},
		{"AppendBinary", 0, func() { buffer, _ = id.AppendBinary(buffer[:0]) }},
		{"Parse", 0, func() { _, _ = sno.Parse(text) }},
		{"FromEncodedString", 0, func() { _, _ = sno.FromEncodedString(text) }},
		{"FromEncodedBytes", 0, func() { _, _ = sno.FromEncodedBytes(append(buffer[:0], text...)) }},
		{"FromBinaryBytes", 0, func() { _, _ = sno.FromBinaryBytes(binary) }},
		{"UnmarshalText", 0, func() { _ = id.UnmarshalText(append(buffer[:0], text...)) }},
		{"UUID", 0, func() { id.UUID() }},
		{"Compare", 0, func() { id.Compare(batch[0]) }},
		{"Time", 0, func() { id.Time() }},
		{"EncodedMeta", 0, func() { _, _ = sno.EncodedMeta(text) }},
		{"First", 0, func() { sno.First(epoch) }},
		{"String", 1, func() { _ = id.String() }},
		{"MarshalText", 1, func() { _, _ = id.MarshalText() }},
		{"MarshalJSON", 1, func() { _, _ = id.MarshalJSON() }},
	} {
		if n := testing.AllocsPerRun(100, c.f); n > c.most {
			t.Errorf("%s: %v allocations, want %v", c.name, n, c.most)
		}
	}
}

func TestListAllocations(t *testing.T) { list.Allocations(t) }

package nanoflake

import (
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/base36"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

var descriptor = shape.Format{
	Name: format, Worker: "generator ID", Field: "GeneratorID", Options: []string{"epoch"},
	Ordered: true, Size: 8,
	Text:    shape.Text{Digits: base36.Digits, AnyCase: true, Name: "a base-36 digit", Least: base36.Len, Most: base36.Len, Largest: "1y2p0ij32e8e7"},
	Columns: []shape.Column{{Type: shape.Bigint, GoType: "nanoflake.ID"}, {Type: shape.Varchar, GoType: "nanoflake.Text"}},
	Of:      shapeOf,
	Codec: shape.Codec{Parse: shape.Reads(Parse), Decimal: shape.Reads(ParseDecimal), Hex: shape.Reads(ParseHex), Base36: shape.Reads(ParseBase36),
		AppendText: shape.Writes[ID], Reader: shape.Reader[ID], Writer: shape.Writer[ID]},
	New: func(r shape.Recipe) (shape.Generator, error) {
		g, err := NewGenerator(Config{GeneratorID: r.Worker, Leased: r.Leased, Clock: r.Clock, Epoch: r.Epoch, MaxBackward: r.MaxBackward})
		return shape.Made(g, AppendAll, err)
	},
}

// Descriptor describes the format to Firn's own tools. Do not change what it returns.
func Descriptor() *shape.Format { return &descriptor }

// shapeOf returns the shape of IDs. Specification: "A Nanoflake".
func shapeOf(set shape.Settings) (shape.Shape, error) {
	return shape.Shape{
		Fields: shape.Fields(shape.Field{Name: "timestamp", Bits: timestampBits}, shape.Field{Name: "generator_id", Bits: generatorBits},
			shape.Field{Name: "sequence", Bits: sequenceBits}),
		Epoch: clock.Epoch(set.Epoch, DefaultEpochMilli), Unit: time.Millisecond, Worker: 1, Sequence: 2,
		Pool: format,
	}, nil
}

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee {
	return mint.Leased{Mint: &g.mint, Shape: descriptor.Default(), Field: descriptor.Field, Shift: generatorShift}
}

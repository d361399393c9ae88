package ulidflake

import (
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

var (
	descriptor = shape.Format{
		Name: format, Options: []string{"epoch", "increment-bits"}, Ordered: true, Size: 8, Text: text,
		Columns: []shape.Column{{Type: shape.Bigint, GoType: "ulidflake.ID"}, {Type: shape.Varchar, GoType: "ulidflake.Text"}},
		Of:      shapeOf,
		Codec: shape.Codec{Parse: shape.Reads(Parse), Decimal: shape.Reads(ParseDecimal), Hex: shape.Reads(ParseHex), AppendText: shape.Writes[ID],
			Reader: shape.Reader[ID], Writer: shape.Writer[ID]},
		New: func(r shape.Recipe) (shape.Generator, error) {
			g, err := NewGenerator(Config{IncrementBits: r.IncrementBits, Leased: r.Leased, Clock: r.Clock, Epoch: r.Epoch, MaxBackward: r.MaxBackward})
			return shape.Made(g, AppendAll, err)
		},
	}
	descriptorScalable = shape.Format{
		Name: formatScalable, Worker: "scalability", Field: "Scalability", Options: []string{"epoch", "increment-bits"},
		Ordered: true, Size: 8, Text: text,
		Columns: []shape.Column{{Type: shape.Bigint, GoType: "ulidflake.ScalableID"}, {Type: shape.Varchar, GoType: "ulidflake.ScalableText"}},
		Of:      shapeOfScalable,
		Codec: shape.Codec{Parse: shape.Reads(ParseScalable), Decimal: shape.Reads(ParseScalableDecimal), Hex: shape.Reads(ParseScalableHex),
			AppendText: shape.Writes[ScalableID], Reader: shape.Reader[ScalableID], Writer: shape.Writer[ScalableID]},
		New: func(r shape.Recipe) (shape.Generator, error) {
			g, err := NewScalableGenerator(ScalableConfig{Scalability: r.Worker, IncrementBits: r.IncrementBits, Leased: r.Leased, Clock: r.Clock, Epoch: r.Epoch, MaxBackward: r.MaxBackward})
			return shape.Made(g, AppendAllScalable, err)
		},
	}

	text = shape.Text{Digits: base32.CrockfordDigits, AnyCase: true, Name: alphabetName, Least: base32.Len63, Most: base32.Len63, Largest: "7ZZZZZZZZZZZZ"}
)

// Descriptor describes the stand-alone version to Firn's own tools. Do not change what it returns.
func Descriptor() *shape.Format { return &descriptor }

// DescriptorScalable describes the scalable version to Firn's own tools. Do not change what it returns.
func DescriptorScalable() *shape.Format { return &descriptorScalable }

// shapeOf returns the shape of IDs. Specification: "Specification", stand-alone version.
func shapeOf(set shape.Settings) (shape.Shape, error) {
	return shape.Shape{
		Fields: shape.Fields(shape.Field{Name: "timestamp", Bits: timestampBits}, shape.Field{Name: "randomness", Bits: randomnessBits, Random: true}),
		Epoch:  clock.Epoch(set.Epoch, DefaultEpochMilli), Unit: time.Millisecond, Sequence: 1,
		Pool: format,
	}, nil
}

// shapeOfScalable returns the shape of ScalableIDs. Specification: "Specification", scalable version.
func shapeOfScalable(set shape.Settings) (shape.Shape, error) {
	return shape.Shape{
		Fields: shape.Fields(shape.Field{Name: "timestamp", Bits: timestampBits}, shape.Field{Name: "randomness", Bits: scalableRandomnessBits, Random: true},
			shape.Field{Name: "scalability", Bits: scalabilityBits}),
		Epoch: clock.Epoch(set.Epoch, DefaultEpochMilli), Unit: time.Millisecond, Worker: 2, Sequence: 1,
		Pool: formatScalable,
	}, nil
}

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee {
	return mint.Leased{Mint: &g.mint, Shape: descriptor.Default()}
}

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *ScalableGenerator) ForLease() grant.Grantee {
	return mint.Leased{Mint: &g.mint, Shape: descriptorScalable.Default(), Field: descriptorScalable.Field}
}

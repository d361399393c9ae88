// Package brook is a format that a test adds to the list of formats: 41 bits of timestamp, 9 bits of
// outlet and 13 bits of sequence, in Crockford's base-32. The whole format is this file.
package brook

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/usage"
)

const (
	name = "brook"

	timestampBits = 41
	outletBits    = 9
	sequenceBits  = 13

	epochMilli = 1577836800000 // 2020-01-01T00:00:00Z
)

// An ID is a brook.
type ID int64

var (
	form = payload.Int[ID]{Format: name, Max: 1<<63 - 1, Digits: 19, Parse: parse[[]byte], Append: appendText}
	list = payload.List[ID]{Length: base32.Len63, Shortest: base32.Len63, Append: ID.AppendText, Parse: parse[[]byte]}
)

func parse[S string | []byte](s S) (ID, error) {
	if v := base32.Crockford.Decode63(string(s)); v >= 0 {
		return ID(v), nil
	}
	return 0, wrong.Length(name, s, "13 characters of base-32")
}

func appendText(dst []byte, id ID) []byte { return base32.Crockford.Append63(dst, uint64(id)) }

func (id ID) AppendText(dst []byte) ([]byte, error) { return appendText(dst, id), nil }

func (id ID) AppendBinary(dst []byte) ([]byte, error) { return form.AppendBinary(dst, id) }

func (id *ID) UnmarshalText(text []byte) error {
	v, err := parse(text)
	*id = v
	return err
}

func (id *ID) UnmarshalBinary(b []byte) error {
	if len(b) != 8 {
		return fmt.Errorf("%s: %d bytes", name, len(b))
	}
	v, err := form.FromInt64(int64(binary.BigEndian.Uint64(b)))
	*id = v
	return err
}

var descriptor = shape.Format{
	Name: name, Worker: "outlet", Field: "Outlet", Options: []string{"epoch"}, Ordered: true, Size: 8,
	Text: shape.Text{Digits: base32.CrockfordDigits, AnyCase: true, Name: "in Crockford's base-32",
		Least: base32.Len63, Most: base32.Len63, Largest: "7ZZZZZZZZZZZZ"},
	Columns: []shape.Column{{Type: shape.Bigint, GoType: "brook.ID"}},
	Of:      shapeOf,
	Codec: shape.Codec{
		Parse:   shape.Reads(func(s string) (ID, error) { return parse(s) }),
		Decimal: shape.Reads(func(s string) (ID, error) { return payload.Decimal(&form, s) }),
		Hex:     shape.Reads(form.Hex), AppendText: shape.Writes[ID], Reader: shape.Reader[ID], Writer: shape.Writer[ID],
	},
	New: func(r shape.Recipe) (shape.Generator, error) {
		g, err := newGenerator(r)
		return shape.Made(g, list.AppendAll, err)
	},
}

// Descriptor describes the format.
func Descriptor() *shape.Format { return &descriptor }

func shapeOf(set shape.Settings) (shape.Shape, error) {
	return shape.Shape{
		Fields: shape.Fields(shape.Field{Name: "timestamp", Bits: timestampBits}, shape.Field{Name: "outlet", Bits: outletBits},
			shape.Field{Name: "sequence", Bits: sequenceBits}),
		Epoch: clock.Epoch(set.Epoch, epochMilli), Unit: time.Millisecond, Worker: 1, Sequence: 2,
		Pool: name,
	}, nil
}

type generator struct{ mint mint.Mint }

func newGenerator(r shape.Recipe) (*generator, error) {
	if r.Worker < 0 || r.Worker >= 1<<outletBits {
		return nil, wrong.Config(name, "Outlet", r.Worker, "in 0 to 511")
	}
	epoch, err := mint.Epoch(name, r.Epoch, epochMilli)
	if err != nil {
		return nil, err
	}
	g := new(generator)
	g.mint.Init(mint.Config{Format: name, Epoch: epoch, Last: 1<<timestampBits - 1, Bits: sequenceBits, Field: outletBits + sequenceBits,
		MaxBackward: r.MaxBackward, Clock: r.Clock, Worker: uint64(r.Worker) << sequenceBits, Leased: r.Leased})
	return g, g.mint.CheckEpoch(r.Epoch, time.Time{})
}

func (g *generator) at(word uint64) ID { return ID(word | g.mint.Worker(word)) }

func (g *generator) Fill(ctx context.Context, dst []ID) (int, error) {
	return g.fill(dst, func() (uint64, error) { return g.mint.Next(ctx) })
}

func (g *generator) TryFill(dst []ID) (int, error) { return g.fill(dst, g.mint.TryNext) }

func (g *generator) fill(dst []ID, next func() (uint64, error)) (int, error) {
	for i := range dst {
		word, err := next()
		if err != nil {
			return i, err
		}
		dst[i] = g.at(word)
	}
	return len(dst), nil
}

func (g *generator) Usage() usage.Usage { return g.mint.Usage() }

func (g *generator) ForLease() grant.Grantee {
	return mint.Leased{Mint: &g.mint, Shape: descriptor.Default(), Field: descriptor.Field, Shift: sequenceBits}
}

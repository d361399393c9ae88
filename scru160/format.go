package scru160

import (
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

const (
	timestampBits = 48
	microBits     = 10
	random80Bits  = 80
)

var descriptor = shape.Format{
	Name: format, Field: "NodeID", Options: []string{"micro", "start-bits", "counter-bits", "node-bits"},
	Ordered: true, Reserved: true, Size: Size,
	Text: shape.Text{Digits: base32.HexDigits, AnyCase: true, Name: "in base32hex", Least: textLen, Most: textLen, HexToo: true},
	Columns: []shape.Column{
		{Type: shape.Varchar, GoType: "scru160.ID", Reads: []shape.ColumnType{shape.Bytea}, Writes: []shape.ColumnType{shape.Bytea}}, // BytesValue
		{Type: shape.Bytea, GoType: "scru160.Binary"},
	},
	Of: shapeOf,
	Codec: shape.Codec{Parse: shape.Reads(Parse), Hex: shape.Reads(ParseHex), AppendText: shape.Writes[ID],
		Reader: shape.Reader[ID], Writer: shape.Writer[ID], Lines: shape.Lines(list.ParseRun)},
	New: func(r shape.Recipe) (shape.Generator, error) {
		c := Config{ExtraCounterBits: r.CounterBits, NodeBits: r.NodeBits, NodeID: r.Worker, Leased: r.Leased, Clock: r.Clock, MaxBackward: r.MaxBackward}
		if r.Microseconds {
			c.Counter = CounterMicroseconds
		}
		if r.StartBits != nil {
			c.Start = StartBits(*r.StartBits)
		}
		g, err := NewGenerator(c)
		return shape.Made(g, AppendAll, err)
	},
}

// Descriptor describes the format to Firn's own tools. Do not change what it returns.
func Descriptor() *shape.Format { return &descriptor }

// shapeOf returns the shape of IDs. The counter takes bits of random16, the node ID takes more of
// them, and microseconds take bits of the counter.
//
// Specification: "Alternative counter usage", "random16".
func shapeOf(set shape.Settings) (shape.Shape, error) {
	extra, node := set.CounterBits, set.NodeBits
	if extra < 0 || extra > random16Bits {
		return shape.Shape{}, wrong.Config(format, "ExtraCounterBits", extra, "in 0 to "+strconv.Itoa(random16Bits))
	}
	if node < 0 || node > random16Bits-extra {
		return shape.Shape{}, wrong.Config(format, "NodeBits", node, "in 0 to "+strconv.Itoa(random16Bits-extra))
	}
	s := shape.Shape{Unit: time.Millisecond, Pool: format, Widths: []int{timestampBits, counterBits + extra, node}}
	if extra != 0 || node != 0 {
		s.Pool = fmt.Sprintf("%s-%d-%d", format, extra, node)
	}
	fields := []shape.Field{{Name: "timestamp", Bits: timestampBits}}
	counter := counterBits + extra
	if set.Microseconds {
		s.Pool += "-us"
		s.Micro = len(fields)
		fields = append(fields, shape.Field{Name: "microsecond", Bits: microBits})
		counter -= microBits
	}
	s.Sequence = len(fields)
	fields = append(fields, shape.Field{Name: "counter", Bits: counter, Random: true})
	if node > 0 {
		s.Worker = len(fields)
		fields = append(fields, shape.Field{Name: "node_id", Bits: node})
	}
	s.Fields = shape.Fields(append(fields, shape.Field{Name: "random16", Bits: random16Bits - extra - node, Random: true}, shape.Field{Name: "random80", Bits: random80Bits, Random: true})...)
	return s, nil
}

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee {
	s, _ := shapeOf(shape.Settings{CounterBits: int(g.extra), NodeBits: int(g.nodeBits), Microseconds: g.perUnit > 1})
	return mint.Leased{Mint: &g.mint, Shape: s, Field: descriptor.Field, Shift: uint(bits.Len32(g.noise) - random16Bits)}
}

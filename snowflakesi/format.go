package snowflakesi

import (
	"fmt"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

var descriptor = shape.Format{
	Name: format, Worker: "machine ID", Field: "MachineID", Options: []string{"epoch", "clock-bits", "machine-bits", "reset"},
	Ordered: true, Size: 8,
	Text:    shape.Text{Digits: "0123456789", Name: payload.DecimalDigits, Least: 1, Most: maxText},
	Columns: []shape.Column{{Type: shape.Bigint, GoType: "snowflakesi.ID", Reads: []shape.ColumnType{shape.Varchar}}}, // Scan reads the text
	Of: func(set shape.Settings) (shape.Shape, error) {
		l := layoutOf(set)
		if err := l.Check(); err != nil {
			return shape.Shape{}, err
		}
		return l.shape(set.Epoch), nil
	},
	Check: func(set shape.Settings) error {
		_, err := layoutOf(set).epoch(set.Epoch)
		return err
	},
	Codec: shape.Codec{Parse: shape.Reads(Parse), Decimal: shape.Reads(Parse), Hex: shape.Reads(ParseHex), AppendText: shape.Writes[ID], Reader: shape.Reader[ID], Writer: shape.Writer[ID]},
	New: func(r shape.Recipe) (shape.Generator, error) {
		c := Config{Layout: layoutOf(r.Settings), MachineID: r.Worker, Leased: r.Leased, Clock: r.Clock, Epoch: r.Epoch, MaxBackward: r.MaxBackward}
		if r.Reset {
			c.Sequence = SequenceResets
		}
		g, err := NewGenerator(c)
		return shape.Made(g, AppendAll, err)
	},
}

// Descriptor describes the format to Firn's own tools. Do not change what it returns.
func Descriptor() *shape.Format { return &descriptor }

func layoutOf(set shape.Settings) Layout {
	return Layout{ClockBits: set.ClockBits, MachineBits: set.MachineBits}
}

// shape returns the shape of IDs in a valid layout. Specification: "Algorithm Adjustment".
func (l Layout) shape(epoch time.Time) shape.Shape {
	clockBits, machineBits, sequenceBits := l.Widths()
	pool := format
	if l.explicit() != DefaultLayout() {
		pool = fmt.Sprintf("%s-%d-%d", format, clockBits, machineBits)
	}
	return shape.Shape{
		Fields: shape.Fields(shape.Field{Name: "timestamp", Bits: clockBits}, shape.Field{Name: "machine_id", Bits: machineBits},
			shape.Field{Name: "sequence", Bits: sequenceBits}),
		Epoch: clock.Epoch(epoch, DefaultEpochMilli), Unit: time.Millisecond, Worker: 1, Sequence: 2,
		Pool: pool,
	}
}

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee {
	return mint.Leased{Mint: &g.mint, Shape: g.layout.shape(time.Time{}), Field: descriptor.Field, Shift: g.layout.sequenceBits()}
}

package sno

import (
	"context"
	"strconv"

	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/shape"
)

var descriptor = shape.Format{
	Name: format, Worker: "partition", Field: "Partition", Options: []string{"meta", "sequence-min", "sequence-max"},
	Size: SizeBinary,
	Text: shape.Text{Digits: digitsOfText, Name: "in [2-9a-x]", Least: SizeEncoded, Most: SizeEncoded},
	Columns: []shape.Column{
		{Type: shape.Bytea, GoType: "sno.ID", Reads: []shape.ColumnType{shape.Varchar}}, // Scan reads the text
		{Type: shape.Varchar, GoType: "sno.Text"},
		{Type: shape.UUID, GoType: "sno.UUID"},
	},
	Of: shapeOf,
	Codec: shape.Codec{Parse: shape.Reads(Parse), Hex: shape.Reads(ParseHex), UUID: readUUID, AppendText: shape.Writes[ID], AppendUUID: appendUUID,
		Reader: shape.Reader[ID], Writer: shape.Writer[ID], Lines: shape.Lines(list.ParseRun)},
	New: func(r shape.Recipe) (shape.Generator, error) {
		c := Config{Leased: r.Leased, Clock: r.Clock, MaxBackward: r.MaxBackward}
		if !r.Leased {
			if r.Worker < 0 || r.Worker > MaxPartition {
				return nil, wrong.Config(format, "Partition", r.Worker, "in 0 to "+strconv.Itoa(MaxPartition))
			}
			c.Snapshot = &GeneratorSnapshot{SequenceMin: r.SequenceMin, SequenceMax: r.SequenceMax}
			c.Snapshot.Partition.PutUint16(uint16(r.Worker))
		}
		g, err := NewGeneratorWith(c)
		return shape.Made(ofMeta{g, r.Meta}, AppendAll, err)
	},
}

// Descriptor describes the format to Firn's own tools. Do not change what it returns.
func Descriptor() *shape.Format { return &descriptor }

// shapeOf returns the shape of IDs.
func shapeOf(shape.Settings) (shape.Shape, error) {
	fields := shape.Fields(shape.Field{Name: "timestamp", Bits: 39}, shape.Field{Name: "tick_tock", Bits: 1}, shape.Field{Name: "meta", Bits: 8},
		shape.Field{Name: "partition", Bits: 16}, shape.Field{Name: "sequence", Bits: 16})
	return shape.Shape{Fields: fields, Epoch: epochMilli, Unit: TimeUnit, Worker: 3, Sequence: 4, Meta: 2, Pool: format}, nil
}

// ofMeta makes snos of one metabyte.
type ofMeta struct {
	*Generator
	meta byte
}

func (g ofMeta) Fill(ctx context.Context, dst []ID) (int, error) {
	return g.Generator.Fill(ctx, g.meta, dst)
}

func (g ofMeta) TryFill(dst []ID) (int, error) { return g.Generator.TryFill(g.meta, dst) }

// readUUID reads the text of an ID's UUID.
func readUUID(text string) ([]byte, error) {
	u, err := parseUUID(text)
	if err != nil {
		return nil, err
	}
	id, err := u.ID()
	return id[:], err
}

// appendUUID appends the text of an ID's UUID to dst.
func appendUUID(dst, id []byte) ([]byte, error) {
	v, err := FromBinaryBytes(id)
	if err != nil {
		return dst, err
	}
	return v.UUID().AppendText(dst)
}

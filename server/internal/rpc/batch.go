package rpc

import (
	"bytes"
	"context"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/firn-id/firn/server/firnv1"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// The numbers of the fields with IDs.
var (
	packedField = field("packed")
	textsField  = field("texts")
)

func field(name string) protowire.Number {
	return (&firnv1.Batch{}).ProtoReflect().Descriptor().Fields().ByTextName(name).Number()
}

// A maker makes encoded batches of one generator: the binary forms of IDs are their own encoding, and go from the
// generator into the message.
type maker struct {
	of    *supply.Source
	texts bool
	count int    // of the head
	head  []byte // the fields before the IDs
}

func newMaker(g *supply.Source, e firnv1.Encoding) (*maker, error) {
	switch e {
	case firnv1.Encoding_ENCODING_UNSPECIFIED, firnv1.Encoding_ENCODING_PACKED:
		return &maker{of: g}, nil
	case firnv1.Encoding_ENCODING_TEXT:
		return &maker{of: g, texts: true}, nil
	}
	return nil, reason.Form.New("encoding is %d, which this server does not know: use ENCODING_PACKED or ENCODING_TEXT", e)
}

// length returns the bytes of n IDs in a message, at most.
func (m *maker) length(n int) int {
	if m.texts {
		most := m.of.Format.Descriptor().Text.Most
		return n * (protowire.SizeTag(textsField) + protowire.SizeBytes(most))
	}
	return n * m.of.Size
}

// next makes a message of 1 to n new IDs. The buffer is as long as length says, and goes back to its owner. An error says
// why there are fewer IDs than n.
func (m *maker) next(ctx context.Context, n int, buffer *[]byte, owner mem.BufferPool) (made int, _ message, err error) {
	if m.texts {
		made, *buffer, err = m.appendTexts(ctx, (*buffer)[:0], n)
	} else {
		*buffer, err = m.of.AppendBinary(ctx, (*buffer)[:0], n)
		made = len(*buffer) / m.of.Size
	}
	if made == 0 {
		owner.Put(buffer)
		return 0, nil, err
	}
	if made != m.count {
		m.count, m.head = made, m.newHead(made)
	}
	return made, message{mem.SliceBuffer(m.head), mem.NewBuffer(buffer, owner)}, err
}

// newHead returns the encoding of a batch up to the IDs.
func (m *maker) newHead(made int) []byte {
	b := &firnv1.Batch{Format: m.of.Format.Name(), Width: uint32(m.of.Size), Count: uint32(made)}
	if !m.texts {
		b.ByteOrder = firnv1.ByteOrder_BYTE_ORDER_BIG_ENDIAN
	}
	head, err := proto.Marshal(b)
	if err != nil {
		panic(err) // the name of a format is not UTF-8
	}
	if !m.texts {
		head = protowire.AppendTag(head, packedField, protowire.BytesType)
		head = protowire.AppendVarint(head, uint64(made*m.of.Size))
	}
	return head
}

// appendTexts appends the field of texts, with n new IDs. With an error, there are fewer.
func (m *maker) appendTexts(ctx context.Context, dst []byte, n int) (int, []byte, error) {
	lines := pool.Get(m.length(n))
	defer pool.Put(lines)
	var err error
	*lines, err = m.of.AppendTexts(ctx, (*lines)[:0], n, "", "\n")
	made := 0
	for line := range bytes.Lines(*lines) {
		dst = protowire.AppendTag(dst, textsField, protowire.BytesType)
		dst = protowire.AppendBytes(dst, line[:len(line)-1])
		made++
	}
	return made, dst, err
}

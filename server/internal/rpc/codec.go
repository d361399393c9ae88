package rpc

import (
	"math/bits"
	"sync"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/firn-id/firn/server/firnv1"
)

// A packed is a Batch with the IDs in a buffer of a pool. The codec of this package sends the buffer without a copy. The
// connection frees the buffer. Any other codec of protobuf encodes the Batch.
type packed struct {
	*firnv1.Batch        // with the IDs
	head          []byte // the encoded fields before the IDs, and the length of the IDs
	ids           mem.Buffer
}

// packedField is the number of Batch.packed.
var packedField = (&firnv1.Batch{}).ProtoReflect().Descriptor().Fields().ByName("packed").Number()

// newHead returns the head of a batch with size bytes of IDs. The batch has no IDs yet.
func newHead(b *firnv1.Batch, size int) ([]byte, error) {
	head, err := proto.Marshal(b)
	if err != nil {
		return nil, err
	}
	return protowire.AppendVarint(protowire.AppendTag(head, packedField, protowire.BytesType), uint64(size)), nil
}

// A codec is protobuf, without copies of packed IDs.
type codec struct{ encoding.CodecV2 }

func newCodec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

func (c codec) Marshal(message any) (mem.BufferSlice, error) {
	if p, ok := message.(*packed); ok {
		return mem.BufferSlice{mem.SliceBuffer(p.head), p.ids}, nil
	}
	return c.CodecV2.Marshal(message)
}

// buffers are pools of buffers, by the number of bits of their capacity. The pools of package mem clear each buffer, and
// have no sizes between 32 KiB and 1 MiB.
type buffers [33]sync.Pool

// pool is the buffers of all servers.
var pool buffers

// Get returns a buffer with a length. The bytes are not zeros.
func (b *buffers) Get(length int) *[]byte {
	class := bits.Len(uint(max(length, 1) - 1)) // the capacity is the power of two that is not below the length
	if p, ok := b[class].Get().(*[]byte); ok {
		*p = (*p)[:length]
		return p
	}
	p := make([]byte, length, 1<<class)
	return &p
}

// Put takes a buffer of Get back.
func (b *buffers) Put(p *[]byte) {
	b[bits.Len(uint(cap(*p)-1))].Put(p)
}

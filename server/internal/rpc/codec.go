package rpc

import (
	"math/bits"
	"sync"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers the codec
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// A message is an encoded message, which the connection frees when the message is written.
type message mem.BufferSlice

// A received is a message that comes in, and why the message is not protobuf.
type received struct {
	into  any
	fault error
}

// A codec is protobuf, and sends the buffers of a [message]. The codec of grpc copies a message into buffers of package mem,
// which clears each buffer, and has no sizes between 32 KiB and 1 MiB.
type codec struct{ encoding.CodecV2 }

func newCodec() encoding.CodecV2 { return codec{encoding.GetCodecV2("proto")} }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	switch v := v.(type) {
	case message:
		return mem.BufferSlice(v), nil
	case proto.Message:
		buffer := pool.Get(proto.Size(v))
		var err error
		if *buffer, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend((*buffer)[:0], v); err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.NewBuffer(buffer, &pool)}, nil
	}
	return c.CodecV2.Marshal(v)
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	if r, ok := v.(*received); ok {
		r.fault = c.CodecV2.Unmarshal(data, r.into)
		return nil
	}
	return c.CodecV2.Unmarshal(data, v)
}

// buffers are pools of buffers, by the number of bits of their capacity.
type buffers [33]sync.Pool

// pool is the buffers of all servers.
var pool buffers

// Get returns a buffer with a length. The bytes are not zeros.
func (b *buffers) Get(length int) *[]byte {
	class := bits.Len(uint(max(length, 1) - 1)) // the capacity is the least power of two for the length
	if p, ok := b[class].Get().(*[]byte); ok {
		*p = (*p)[:length]
		return p
	}
	p := make([]byte, length, 1<<class)
	return &p
}

// Put takes a buffer of Get back.
func (b *buffers) Put(p *[]byte) {
	if c := cap(*p); c > 0 && c&(c-1) == 0 { // append may have made another buffer
		b[bits.Len(uint(c-1))].Put(p)
	}
}

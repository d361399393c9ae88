package rpc

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/firn-id/firn/server/firnv1"
)

// A message is a batch with the pool that gets its buffer back once the batch is written.
type message struct {
	*firnv1.Batch
	owner mem.BufferPool
}

// A received is an incoming message, and why it is not protobuf.
type received struct {
	into  any
	fault error
}

// A codec is grpc's, with two additions that grpc has no option for. A [message] is encoded into a buffer of its owner, so
// the owner learns when grpc has written it. The fault of a [received] is not an error, because grpc would answer it with
// INTERNAL, a fault of the server, before an interceptor sees it.
type codec struct{ encoding.CodecV2 }

func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(message)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	buffer := m.owner.Get(proto.Size(m.Batch))
	var err error
	if *buffer, err = (proto.MarshalOptions{UseCachedSize: true}).MarshalAppend((*buffer)[:0], m.Batch); err != nil {
		m.owner.Put(buffer)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(buffer, m.owner)}, nil
}

func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	r, ok := v.(*received)
	if !ok {
		return c.CodecV2.Unmarshal(data, v)
	}
	r.fault = c.CodecV2.Unmarshal(data, r.into)
	return nil
}

// buffers are for batches. grpc's own pool has no size between 32 KiB and 1 MiB, and clears a whole buffer for each use.
var buffers = mem.NewTieredBufferPool(1<<12, 1<<14, 1<<15, 1<<16, 1<<17, 1<<18, 1<<19, 1<<20, 1<<21)

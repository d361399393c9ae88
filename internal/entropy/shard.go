package entropy

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// streams are those that all sources share.
var streams = newPool(runtime.GOMAXPROCS(0), func() stream { return new(keyed) })

// A pool keeps streams apart, so that callers on many cores neither queue for one nor pull the
// memory of one from core to core: a caller takes a shard that nobody holds.
type pool struct {
	shards    []shard       // a power of two of them
	newStream func() stream // makes a shard's
}

// A stream fills blocks with random bits.
type stream interface {
	fill(block []byte)
}

// blockSize is how many bytes a shard draws ahead: enough to spread the cost of a call to the
// cipher, few enough to wait for.
const blockSize = 1024

// A shard is a stream and what was drawn of it ahead. Who has set held, and nobody else, reads
// and writes the rest. Shards share no cache lines, nor the pairs of them that processors fetch.
type shard struct {
	held   atomic.Bool
	left   int // bytes of block, at its end, that were not handed out
	block  [blockSize]byte
	stream stream // nil until it is needed
	_      [128]byte
}

// newPool returns a pool for so many processors. It has more shards than that, since a caller
// knows its goroutine and not its processor, and two of them should seldom meet.
func newPool(processors int, stream func() stream) pool {
	return pool{make([]shard, 1<<bits.Len(uint(4*processors-1))), stream}
}

// lock returns a shard that its caller alone holds until unlock, with n bytes to hand out, or
// nil if it finds none that is free. It never waits: who holds a shard may be descheduled.
//
// A goroutine's stack is its own, so where it lies tells goroutines apart; that is all that the
// address is used for. To find another's shard held costs time and nothing else.
func (p *pool) lock(n int) *shard {
	var here byte
	at := int(uint32(uintptr(unsafe.Pointer(&here))>>11)*0x9e3779b9>>16) & (len(p.shards) - 1)
	sh := &p.shards[at]
	if !sh.held.CompareAndSwap(false, true) {
		if sh = p.other(at); sh == nil {
			return nil
		}
	}
	if sh.left < n {
		p.refill(sh)
	}
	return sh
}

// other returns another shard than that, as lock does.
func (p *pool) other(at int) *shard {
	for range 3 {
		at++
		if sh := &p.shards[at&(len(p.shards)-1)]; sh.held.CompareAndSwap(false, true) {
			return sh
		}
	}
	return nil
}

// refill draws a block. The few bytes that are left of the last one are never handed out.
func (p *pool) refill(sh *shard) {
	if sh.stream == nil {
		sh.stream = p.newStream()
	}
	sh.stream.fill(sh.block[:])
	sh.left = blockSize
}

func (sh *shard) unlock() { sh.held.Store(false) }

// next hands out n bytes, of which there are as many; they stay until unlock.
func (sh *shard) next(n int) []byte {
	b := sh.block[blockSize-sh.left:][:n]
	sh.left -= n
	return b
}

// read fills b with the bytes of a shard, of which it leaves none unused.
func (p *pool) read(sh *shard, b []byte) {
	for len(b) > 0 {
		if sh.left == 0 {
			p.refill(sh)
		}
		b = b[copy(b, sh.next(min(len(b), sh.left))):]
	}
}

package entropy

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// streams is the pool of all sources.
var streams = newPool(runtime.GOMAXPROCS(0), func() stream { return new(keyed) })

// A pool has a stream in each of its shards. A caller takes a shard that nobody holds. Callers on
// many cores therefore neither queue for a stream nor share its memory.
type pool struct {
	shards    []shard // their number is a power of two
	newStream func() stream
}

// A stream fills blocks with random bits.
type stream interface {
	fill(block []byte)
}

// blockSize is the number of bytes of a block. A larger block spreads the cost of a call of the
// cipher. A smaller block is a shorter wait.
const blockSize = 1024

// A shard is a stream and a block of bytes. Only the caller that has set held reads and writes the
// other fields. Shards share neither cache lines nor the pairs of cache lines that processors
// fetch.
type shard struct {
	held   atomic.Bool
	left   int // number of bytes at the end of block that were not handed out
	block  [blockSize]byte
	stream stream // nil before the first block
	_      [128]byte
}

// newPool returns a pool for a number of processors. The pool has more shards than processors: a
// caller knows the goroutine but not the processor, and two callers should rarely want the same
// shard.
func newPool(processors int, stream func() stream) pool {
	return pool{make([]shard, 1<<bits.Len(uint(4*processors-1))), stream}
}

// lock returns a shard with n bytes to hand out. The caller holds the shard until unlock. lock
// returns nil if it finds no free shard. It never waits, since the holder of a shard may be
// descheduled.
//
// The address of the stack tells goroutines apart, and has no other use. If two goroutines want the
// same shard, only time is lost.
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

// other returns one of the next shards, locked, or nil.
func (p *pool) other(at int) *shard {
	for range 3 {
		at++
		if sh := &p.shards[at&(len(p.shards)-1)]; sh.held.CompareAndSwap(false, true) {
			return sh
		}
	}
	return nil
}

// refill makes a new block. It drops the few bytes left of the old block.
func (p *pool) refill(sh *shard) {
	if sh.stream == nil {
		sh.stream = p.newStream()
	}
	sh.stream.fill(sh.block[:])
	sh.left = blockSize
}

func (sh *shard) unlock() { sh.held.Store(false) }

// next hands out n bytes. The shard must have n bytes left. The bytes are valid until unlock.
func (sh *shard) next(n int) []byte {
	b := sh.block[blockSize-sh.left:][:n]
	sh.left -= n
	return b
}

// read fills b with the bytes of a shard. It drops no bytes.
func (p *pool) read(sh *shard, b []byte) {
	for len(b) > 0 {
		if sh.left == 0 {
			p.refill(sh)
		}
		b = b[copy(b, sh.next(min(len(b), sh.left))):]
	}
}

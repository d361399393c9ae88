package sno

import (
	crand "crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// partitions is where the generators of the process that are given no partition get one,
// each its own. It and the generator of New are the only state that the package keeps:
// its published API is functions.
var partitions = pool{start: sync.OnceValue(func() uint16 {
	var b [2]byte
	crand.Read(b[:]) // never fails: the program ends if the system has no randomness
	return binary.BigEndian.Uint16(b[:])
})}

// pool is a start, drawn when the first partition is asked for so that processes start
// apart, and how many partitions were taken since.
type pool struct {
	start func() uint16
	taken atomic.Uint32
}

// take returns a partition that was not taken before.
func (p *pool) take() (Partition, error) {
	for {
		n := p.taken.Load()
		if n >= MaxPartition {
			return Partition{}, &PartitionPoolExhaustedError{}
		}
		if p.taken.CompareAndSwap(n, n+1) {
			return p.number(n), nil
		}
	}
}

// spare returns the one partition of 65536 that is never taken.
func (p *pool) spare() Partition { return p.number(MaxPartition) }

func (p *pool) number(n uint32) (partition Partition) {
	partition.PutUint16(p.start() + uint16(n))
	return partition
}

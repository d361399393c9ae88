package sno

import (
	crand "crypto/rand"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// partitions gives partitions to the generators of the process without a partition of their own.
// partitions and the generator of New are the only state of the package: the published API is
// functions.
var partitions = pool{start: sync.OnceValue(func() uint16 {
	var b [2]byte
	crand.Read(b[:]) // never fails: the program ends if the system has no randomness
	return binary.BigEndian.Uint16(b[:])
})}

// pool has a random start, drawn at the first use, and the number of partitions taken since.
// Processes thus start apart.
type pool struct {
	start func() uint16
	taken atomic.Uint32
}

// take returns a partition, and never the same partition again.
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

// spare returns the one partition of 65536 left out by take.
func (p *pool) spare() Partition { return p.number(MaxPartition) }

func (p *pool) number(n uint32) (partition Partition) {
	partition.PutUint16(p.start() + uint16(n))
	return partition
}

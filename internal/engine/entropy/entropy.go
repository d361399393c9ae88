// Package entropy is a cheap source of strong random bits.
//
// A cipher with a key from the operating system makes the bits, in blocks. Without the key, the
// bits cannot be told from random, even by someone with all earlier bits. A key makes at most
// keyLife bytes.
//
// Blocks and keys are in the memory of the process. Go has no fork, but a virtual machine can be
// cloned, or restored twice from one snapshot. Both copies then hand out the same bits until the
// key changes. IDs of the copies still differ if their times, counters or node IDs differ. If you
// clone machines and rely on random bits alone, use [Source.Direct]: the operating system can
// notice a clone.
package entropy

import (
	crand "crypto/rand"
	"encoding/binary"
	"unsafe"
)

// Source yields uniformly distributed, unpredictable bits, and no bits twice. The zero Source is
// ready for use. A Source is safe for concurrent use.
type Source struct {
	// Direct takes every bit from crypto/rand, without a generator between the operating system and
	// the IDs.
	Direct bool
}

// Uint64 returns 64 random bits.
func (s *Source) Uint64() uint64 {
	if !s.Direct {
		if sh := streams.lock(8); sh != nil {
			x := binary.NativeEndian.Uint64(sh.next(8))
			sh.unlock()
			return x
		}
	}
	var b [8]byte
	crand.Read(b[:]) // never fails: the program ends if the system has no randomness
	return binary.NativeEndian.Uint64(b[:])
}

// Uint96 returns 96 random bits as two integers.
func (s *Source) Uint96() (hi uint32, lo uint64) {
	if !s.Direct {
		if sh := streams.lock(12); sh != nil {
			hi, lo = (*Bits96)(sh.next(12)).Words()
			sh.unlock()
			return hi, lo
		}
	}
	var b Bits96
	crand.Read(b[:])
	return b.Words()
}

// Read fills p with random bits. It holds a shard meanwhile, so p should have at most a few
// kilobytes.
func (s *Source) Read(p []byte) {
	if !s.Direct {
		if sh := streams.lock(0); sh != nil {
			streams.read(sh, p)
			sh.unlock()
			return
		}
	}
	crand.Read(p)
}

// Bits96 are 96 random bits.
type Bits96 [12]byte

// Words returns the bits as two integers.
func (b *Bits96) Words() (hi uint32, lo uint64) {
	return binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint64(b[:])
}

// Read96 fills p with random bits. For many values it is far faster than Uint96. See Read.
func (s *Source) Read96(p []Bits96) {
	if len(p) > 0 {
		s.Read(unsafe.Slice(&p[0][0], len(p)*len(p[0])))
	}
}

// Read64 fills p with random bits. For many values it is far faster than Uint64. See Read.
func (s *Source) Read64(p []uint64) {
	if len(p) > 0 {
		s.Read(unsafe.Slice((*byte)(unsafe.Pointer(&p[0])), 8*len(p)))
	}
}

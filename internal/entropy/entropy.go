// Package entropy is the cheap source of strong random bits.
//
// The bits are those of a cipher under a key from the operating system, drawn ahead in
// blocks. Who does not know the key cannot tell them from chance, whatever else has been handed
// out, and the key is never older than keyLife bytes of its stream.
//
// What a process holds ahead is in its memory. Go has no fork, but a virtual machine can be
// cloned, or restored twice from one snapshot: both then hand out the bits that were held
// ahead, and those of the key until its life ends. IDs of clones still differ by time, counter
// or node ID, as far as these differ. Who clones machines that make IDs, and relies on
// random bits alone, takes them from the operating system, which knows of it: [Source.Direct].
package entropy

import (
	crand "crypto/rand"
	"encoding/binary"
	"unsafe"
)

// Source yields uniformly distributed bits that cannot be predicted, and none of them twice.
// The zero Source is ready, and safe for concurrent use.
type Source struct {
	// Direct takes every bit from crypto/rand instead, for those who want no
	// generator of our choice between the operating system and their IDs.
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

// Uint96 returns 96 random bits in two words.
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

// Read fills p with random bits. It holds a shard for so long: p is some kilobytes at most.
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

// Words returns them in two words.
func (b *Bits96) Words() (hi uint32, lo uint64) {
	return binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint64(b[:])
}

// Read96 fills p with random bits, in far less time than Uint96 takes for each; see Read.
func (s *Source) Read96(p []Bits96) {
	if len(p) > 0 {
		s.Read(unsafe.Slice(&p[0][0], len(p)*len(p[0])))
	}
}

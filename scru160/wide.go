package scru160

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
)

// wide has the high bits of a counter with more bits than its part of a word.
//
// Such a counter starts at a random number of up to 31 bits. No machine counts far from the start
// within one tick: the 20 bits in the word are at least half a million IDs in a millisecond. The
// bits above therefore do not change within a tick, and need no state: a keyed hash of the tick
// gives the bits. All callers compute the same hash, and without the key the hash looks like a
// random draw. A draw in a second atomic would have to agree with the word, and two atomics do not.
type wide struct {
	key   [sha256.Size]byte
	shift int // from 32 bits to the bits of the start
}

func newWide(bits int) *wide {
	w := &wide{shift: 32 - bits}
	crand.Read(w.key[:]) // never fails: the program ends if the system has no randomness
	return w
}

// highBits returns the high counter bits of a tick.
func (w *wide) highBits(tick uint64) uint32 {
	var b [sha256.Size + 8]byte
	copy(b[:], w.key[:])
	binary.BigEndian.PutUint64(b[sha256.Size:], tick)
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint32(sum[:]) >> w.shift
}

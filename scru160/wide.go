package scru160

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
)

// wide is where the high bits of a counter come from that is wider than a word has
// room for.
//
// Such a counter starts at a random number of up to 31 bits, and in one tick no
// machine counts far from it: 20 bits in the word are half a million IDs a
// millisecond at the least. So the bits above them do not change within a tick, and
// need no state: they are a keyed hash of the tick, which every caller computes alike
// and nobody without the key can tell from a random draw. A draw kept beside the word
// would have to agree with it, which two atomics do not.
type wide struct {
	key   [sha256.Size]byte
	shift int // from 32 bits to those wanted
}

func newWide(bits int) *wide {
	w := &wide{shift: 32 - bits}
	crand.Read(w.key[:]) // never fails: the program ends if the system has no randomness
	return w
}

// of returns the tick's high counter bits.
func (w *wide) of(tick uint64) uint32 {
	var b [sha256.Size + 8]byte
	copy(b[:], w.key[:])
	binary.BigEndian.PutUint64(b[sha256.Size:], tick)
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint32(sum[:]) >> w.shift
}

//go:build !(amd64 || arm64 || ppc64 || ppc64le || s390x)

package entropy

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
)

// keyLife is the number of bytes made with a key.
const keyLife = 1 << 20

// keyed is ChaCha8. Unlike AES, ChaCha8 is fast without special instructions. It often derives a
// new key from the old key. In addition, a new key comes from the operating system after keyLife
// bytes.
type keyed struct {
	rand.ChaCha8
	left int // bytes until the next key
}

func (k *keyed) fill(block []byte) {
	if k.left < len(block) {
		var seed [32]byte
		crand.Read(seed[:]) // never fails: the program ends if the system has no randomness
		k.Seed(seed)
		k.left = keyLife
	}
	k.left -= len(block)
	for ; len(block) >= 8; block = block[8:] {
		binary.NativeEndian.PutUint64(block, k.Uint64())
	}
}

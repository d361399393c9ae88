//go:build amd64 || arm64 || ppc64 || ppc64le || s390x

package entropy

import (
	"crypto/aes"
	"crypto/cipher"
	crand "crypto/rand"
)

// keyLife is the number of bytes made with a key. With far more bytes the stream could be told from
// random. With keyLife bytes, the two small allocations for a key come once in 87 000 IDs.
const keyLife = 1 << 20

// keyed is AES-256 in counter mode. On processors with AES instructions it is the fastest cipher:
// 16 bytes take 2 ns.
type keyed struct {
	cipher.Stream
	left int // bytes until the next key
}

func (k *keyed) fill(block []byte) {
	if k.left < len(block) {
		var seed [32 + aes.BlockSize]byte
		crand.Read(seed[:]) // never fails: the program ends if the system has no randomness
		c, err := aes.NewCipher(seed[:32])
		if err != nil {
			panic(err) // impossible: the key has 32 bytes
		}
		k.Stream, k.left = cipher.NewCTR(c, seed[32:]), keyLife
	}
	k.left -= len(block)
	clear(block)
	k.XORKeyStream(block, block)
}

//go:build !amd64

package call

import "encoding/binary"

//go:noinline
func write10(dst []byte, src *[10]byte) { copy(dst[len(dst)-16:], src[:]) }

//go:noinline
func write8(dst []byte, v uint64) { binary.LittleEndian.PutUint64(dst[len(dst)-13:], v) }

//go:noinline
func write20(dst []byte, src *[20]byte) { copy(dst[len(dst)-32:], src[:]) }

//go:noinline
func read10(dst *[10]byte, s string) bool {
	if len(s) != 16 {
		return false
	}
	copy(dst[:], s)
	return true
}

//go:noinline
func read8(s string) int64 {
	if len(s) != 13 {
		return -1
	}
	return int64(binary.LittleEndian.Uint64([]byte(s[:8])))
}

//go:noinline
func read20(dst *[20]byte, s string) bool {
	if len(s) != 32 {
		return false
	}
	copy(dst[:], s)
	return true
}

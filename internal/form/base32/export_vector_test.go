//go:build amd64 && !purego && !race && !msan && !asan

package base32

// SetVectors turns vectors on or off. It reports whether vectors were on.
func SetVectors(on bool) (were bool) {
	were, vectors = vectors, on
	return were
}

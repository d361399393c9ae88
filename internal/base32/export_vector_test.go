//go:build amd64 && !purego && !race && !msan && !asan

package base32

// SetVectors turns vectors on or off. It tells whether they were on, which they are where
// the processor has them.
func SetVectors(on bool) (were bool) {
	were, vectors = vectors, on
	return were
}

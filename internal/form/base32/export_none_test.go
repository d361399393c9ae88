//go:build !amd64 || purego || race || msan || asan

package base32

// SetVectors returns false: this build has no vectors.
func SetVectors(bool) (were bool) { return false }

//go:build !amd64 || purego || race || msan || asan

package base32

// SetVectors says that there are none.
func SetVectors(bool) (were bool) { return false }

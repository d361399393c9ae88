//go:build !linux

package rehearsal

// The servers of the rehearsal need Linux.
var stores []store

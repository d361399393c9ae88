//go:build unix

package rpc

import "syscall"

// processorTime returns the processor time of this process, in nanoseconds.
func processorTime() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

//go:build unix

package main

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time that the process has used. It returns false if the system does
// not have that time.
func cpuTime() (time.Duration, bool) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0, false
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano()), true
}

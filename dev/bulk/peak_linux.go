package main

import (
	"os"
	"syscall"
)

// peak returns the most memory that a process has had, in bytes.
func peak(p *os.ProcessState) int64 {
	const unit = 1024 // of Maxrss on Linux
	return p.SysUsage().(*syscall.Rusage).Maxrss * unit
}

//go:build !unix

package main

import "time"

// cpuTime returns the processor time that the process has used, and whether that is known.
func cpuTime() (time.Duration, bool) { return 0, false }

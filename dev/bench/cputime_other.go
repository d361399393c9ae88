//go:build !unix

package main

import "time"

// cpuTime returns the processor time that the process has used. It returns false if the system does
// not have that time.
func cpuTime() (time.Duration, bool) { return 0, false }

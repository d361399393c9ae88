//go:build !linux

package clock

import "time"

// sleep is [time.Sleep]: the timers of the runtime are precise here.
func sleep(d time.Duration) { time.Sleep(d) }

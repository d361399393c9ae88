//go:build !linux

package clock

import "time"

// nap sleeps for d. Outside Linux the runtime's timers are as fine as the
// system's own.
func nap(d time.Duration) { time.Sleep(d) }

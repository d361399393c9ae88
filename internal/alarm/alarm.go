// Package alarm sleeps for less than a millisecond, without holding a thread or a P.
package alarm

import "time"

// Sleep is [time.Sleep] with a precise end. Sleep allocates only what later calls use again.
//
// On Linux an idle Go process waits for its timers in whole milliseconds, so time.Sleep(500µs)
// returns after 1.1 ms. On Linux, Sleep therefore also sets a timer of the kernel, which ends the
// idle wait when the sleep is over. On other systems the runtime's own timers are precise.
func Sleep(d time.Duration) { sleep(d) }

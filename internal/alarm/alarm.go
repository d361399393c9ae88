// Package alarm sleeps for less than a millisecond, and holds no thread and no P meanwhile.
package alarm

import "time"

// Sleep is [time.Sleep] with a precise end. It allocates nothing, except what later calls use
// again.
//
// On Linux an idle Go process waits for its timers in whole milliseconds, so time.Sleep(500µs)
// returns after 1.1 ms. There, Sleep also sets a timer of the kernel, which ends the idle wait
// when the sleep is over. Other systems have precise timers in the runtime itself.
func Sleep(d time.Duration) { sleep(d) }

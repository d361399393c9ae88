package clock

import "time"

// Await pauses until the clock may show a time that is d later. Like [Pause], Await may return
// early, since a clock can be set. In a bubble of testing/synctest nothing sets the system's clock,
// and only sleeps pass time: there Await sleeps for all of d, which can be years.
func (c Clock) Await(d time.Duration) {
	if c.read == nil && inBubble() {
		time.Sleep(d)
		return
	}
	Pause(d)
}

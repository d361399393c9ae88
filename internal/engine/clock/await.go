package clock

import (
	"errors"
	"time"

	"github.com/firn-id/firn/iderr"
)

// Await pauses until the clock may show a time without the error of a generator: until a clock that
// is behind has caught up, or a clock before the epoch has reached the first timestamp. For any other
// error, Await pauses for [Longest]. Like [Pause], Await may return early, since a clock can be set.
// In a bubble of testing/synctest nothing sets the system's clock, and only sleeps pass time: there
// Await sleeps for all of the time, which can be years.
func (c Clock) Await(err error) {
	d := Longest
	var behind *iderr.ClockError
	var outside *iderr.TimeError
	switch {
	case errors.As(err, &behind):
		d = behind.By
	case errors.As(err, &outside) && outside.Time.Before(outside.First):
		d = outside.First.Sub(outside.Time)
	}
	if c.read == nil && inBubble() {
		time.Sleep(d)
		return
	}
	Pause(d)
}

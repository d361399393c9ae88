package main

import (
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
)

// boundSubjects make no IDs: they do the least that a generator or a codec of Firn must do. A generator
// looks at the counter and adds to a word. A portable generator calls time.Since for each ID. A
// generator at saturation pauses until the next tick. Only the table of limits shows bounds.
var boundSubjects = []subject{
	{
		name: "time-since", title: "time.Since alone", kin: "nanoflake", bound: true,
		next: func() (loop, error) {
			began := time.Now()
			return loopOf(func(n int) (d time.Duration, err error) {
				for range n {
					d = time.Since(began)
				}
				return d, nil
			}), nil
		},
	},
	{
		name: "counter-add", title: "a look at the counter and an addition", kin: "nanoflake", bound: true,
		next: func() (loop, error) {
			_, mark := clock.New(nil).Mark()
			deadline := mark.In(time.Millisecond)
			var word atomic.Uint64
			return loopOf(func(n int) (last uint64, err error) {
				for range n {
					if deadline.AheadByCycles() { // the branch costs the same either way
						last++
					}
					last ^= word.Add(1)
				}
				return last, nil
			}), nil
		},
	},
	{
		name: "sleep", title: "a goroutine that pauses from tick to tick", kin: "nanoflake", bound: true,
		cap: capacity{1, time.Millisecond},
		ticks: func() (loop, error) {
			last := tickOf(time.Now(), time.Millisecond)
			return loopOf(func(n int) (int64, error) {
				for ; n > 0; n-- {
					for now := time.Now(); ; now = time.Now() {
						if tick := tickOf(now, time.Millisecond); tick != last {
							last = tick
							break
						}
						clock.Pause(time.Millisecond - time.Duration(now.Nanosecond())%time.Millisecond)
					}
				}
				return last, nil
			}), nil
		},
	},
}

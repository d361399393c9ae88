package soak

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Clock is a wall clock as bad as they come. It runs at a speed that changes every few
// milliseconds, from a fifth of real time, at which ticks are spent, to twenty times, at which they
// are as short as can be; it is set forward and back; and when the machine is too busy to change
// it, it stands still.
type Clock struct {
	began time.Time // for real
	epoch time.Time // what the clock showed then
	now   atomic.Pointer[course]

	random *rand.Rand
	high   int64 // the most it has shown
	back   atomic.Int64
}

// course is how the clock runs between two changes. It is one value, so that no reading mixes an
// old offset with a new speed.
type course struct {
	changed, shown int64 // ns since began and epoch, at the change
	speed          float64
}

const (
	slowest = 0.2
	fastest = 20

	// A clock that is more than 5 s behind is an error to generators. So no change takes it further
	// back than mostBehind from the most it has shown, and none that comes late can do so: a course
	// ends after longestCourse, when it has shown at most 20 times that more than its start.
	mostBehind    = 4 * time.Second
	longestCourse = 20 * time.Millisecond
)

// NewClock returns a clock that stands at epoch and runs at real speed until a Soak runs it.
func NewClock(epoch time.Time, seed uint64) *Clock {
	c := &Clock{began: time.Now(), epoch: epoch, random: rand.New(rand.NewPCG(seed, 2))}
	c.now.Store(&course{speed: 1})
	return c
}

// Now returns what the clock shows. It is safe for concurrent use.
func (c *Clock) Now() time.Time {
	for {
		course := c.now.Load()
		shown := course.shownAt(int64(time.Since(c.began)))
		if course == c.now.Load() { // else the course may be long past
			return c.epoch.Add(time.Duration(shown))
		}
	}
}

func (k *course) shownAt(elapsed int64) int64 {
	return k.shown + int64(float64(min(elapsed-k.changed, int64(longestCourse)))*k.speed)
}

// Back returns how often the clock was set back.
func (c *Clock) Back() int64 { return c.back.Load() }

// start changes the clock's course at random from now on, until stop is called.
func (c *Clock) start() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(time.Duration(c.random.Int64N(int64(5 * time.Millisecond)))):
				c.change()
			}
		}
	}()
	return func() { close(quit); <-done }
}

// change gives the clock a new speed and, one time in four, a step.
func (c *Clock) change() {
	elapsed := int64(time.Since(c.began))
	shown := c.now.Load().shownAt(elapsed)
	c.high = max(c.high, shown)
	if c.random.IntN(4) == 0 {
		step := c.logUniform(1, 20)
		if c.random.IntN(200) == 0 {
			step = c.logUniform(20, 1000)
		}
		ns := int64(step * float64(time.Millisecond))
		if c.random.IntN(2) == 0 {
			shown += ns
		} else if shown-ns > c.high-int64(mostBehind) {
			shown -= ns
			c.back.Add(1)
		}
	}
	c.now.Store(&course{changed: elapsed, shown: shown, speed: c.logUniform(slowest, fastest)})
}

// logUniform returns a number of from to to, as likely in 1 to 2 as in 10 to 20.
func (c *Clock) logUniform(from, to float64) float64 {
	return from * math.Pow(to/from, c.random.Float64())
}

package soak

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// Clock is a very bad wall clock. Its speed changes every few milliseconds, from a fifth of real
// time, for exhausted ticks, to twenty times, for short ticks. The clock is set forward and back.
// If the machine is too busy to change the clock, the clock stands still.
type Clock struct {
	began time.Time // the real time at the start
	epoch time.Time // the clock's time at the start
	now   atomic.Pointer[course]

	// Twice lets another step back follow every second step back, into times that sno has used with both
	// settings of its tick-tock bit. Between the steps the clock runs like real time, until a generator has read
	// it: a generator reads the clock once in a tick.
	Twice bool

	random *rand.Rand
	again  bool // another step back follows
	lasts  time.Duration
	high   atomic.Int64 // the latest time shown at a change, in ns since epoch
	back   atomic.Int64
}

// course is the movement of the clock between two changes. It is one value, so no reading mixes an
// old offset with a new speed.
type course struct {
	changed, shown int64 // ns since began and epoch, at the change
	speed          float64
}

const (
	slowest = 0.2
	fastest = 20

	// Generators return an error if the clock is more than 5 s behind. Therefore no change sets the
	// clock further back than mostBehind from the latest time shown. A late change is not a danger: a
	// course ends after longestCourse, and covers at most 20 times longestCourse.
	mostBehind    = 4 * time.Second
	longestCourse = 20 * time.Millisecond
)

// NewClock returns a clock that starts at epoch. It runs at real speed until a Soak changes the
// speed.
func NewClock(epoch time.Time, seed uint64) *Clock {
	c := &Clock{began: time.Now(), epoch: epoch, random: rand.New(rand.NewPCG(seed, 2))}
	c.now.Store(&course{speed: 1})
	return c
}

// Now returns the clock's time. It is safe for concurrent use.
func (c *Clock) Now() time.Time {
	for {
		course := c.now.Load()
		shown := course.shownAt(int64(time.Since(c.began)))
		if course == c.now.Load() { // otherwise the course may be long past
			return c.epoch.Add(time.Duration(shown))
		}
	}
}

func (k *course) shownAt(elapsed int64) int64 {
	return k.shown + int64(float64(min(elapsed-k.changed, int64(longestCourse)))*k.speed)
}

// Back returns how often the clock was set back.
func (c *Clock) Back() int64 { return c.back.Load() }

// floor returns a time before all times of new IDs. A generator may read the clock once in a tick of real
// time, in which the clock runs less than a second.
func (c *Clock) floor() time.Time {
	return c.epoch.Add(time.Duration(c.high.Load()) - mostBehind - time.Second)
}

// start changes the clock's course at random from now on, until stop is called.
func (c *Clock) start() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(c.lasts):
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
	c.high.Store(max(c.high.Load(), shown))
	speed := c.logUniform(slowest, fastest)
	c.lasts = time.Duration(c.random.Int64N(int64(5 * time.Millisecond)))
	if second := c.again; second || c.random.IntN(4) == 0 {
		step := c.logUniform(1, 20)
		if c.random.IntN(200) == 0 {
			step = c.logUniform(20, 1000)
		}
		ns := int64(step * float64(time.Millisecond))
		if !second && c.random.IntN(2) == 0 {
			shown += ns
		} else if shown-ns > c.high.Load()-int64(mostBehind) {
			shown -= ns
			c.back.Add(1)
			c.again = c.Twice && !second && c.random.IntN(2) == 0
			if c.again || second {
				speed, c.lasts = 1, 8*time.Millisecond
			}
		}
	}
	c.now.Store(&course{changed: elapsed, shown: shown, speed: speed})
}

// logUniform returns a random number in [from, to]. It is as likely in 1 to 2 as in 10 to 20.
func (c *Clock) logUniform(from, to float64) float64 {
	return from * math.Pow(to/from, c.random.Float64())
}

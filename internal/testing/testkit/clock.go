package testkit

import (
	"sync"
	"time"
)

// A Clock shows a time that the test sets.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// At returns a Clock that shows t.
func At(t time.Time) *Clock { return &Clock{now: t} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set sets the clock to t.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// Step moves the clock forward by d, or back if d is negative.
func (c *Clock) Step(d time.Duration) { c.Set(c.Now().Add(d)) }

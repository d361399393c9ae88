package testkit

import (
	"testing"
	"time"
)

// spacings are the times between two IDs in Spreads, in milliseconds.
var spacings = []int{1, 2, 5, 10, 16, 100, 1000, 1024}

// Spreads makes IDs slowly, with each of the spacings, and checks the spread of IDs over n shards
// by id%n, for n from 2 to 1024. newSource returns a function for the low 64 bits of a new ID by
// the clock. Spreads returns the number of failed cases and an example, without the cases that
// except accepts.
func Spreads(t *testing.T, newSource func(*Clock) func() (uint64, error), except func(spacing, shards int) bool) (failed int, example string) {
	t.Helper()
	for _, spacing := range spacings {
		clock := At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
		next := newSource(clock)
		var ids []uint64
		for range 1 << 13 {
			clock.Step(time.Duration(spacing) * time.Millisecond)
			id, err := next()
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for shards := 2; shards <= 1024; shards++ {
			if except != nil && except(spacing, shards) {
				continue
			}
			if fault := Spread(ids, shards); fault != "" {
				failed++
				example = time.Duration(spacing*1e6).String() + " apart: " + fault
			}
		}
	}
	return failed, example
}

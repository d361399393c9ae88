package testkit

import (
	"testing"
	"time"
)

// intervals are those at which Spreads makes IDs, in milliseconds.
var intervals = []int{1, 2, 5, 10, 16, 100, 1000, 1024}

// Spreads makes IDs slowly, one in so many milliseconds, and checks that they spread
// over n shards by id%n for n from 2 to 1024. make returns a function that makes the
// next one by the clock and gives its low 64 bits. It returns the cases that fail,
// but for those that except explains.
func Spreads(t *testing.T, make func(*Clock) func() (uint64, error), except func(interval, shards int) bool) (failed int, example string) {
	t.Helper()
	for _, interval := range intervals {
		clock := At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
		next := make(clock)
		var ids []uint64
		for range 1 << 13 {
			clock.Step(time.Duration(interval) * time.Millisecond)
			id, err := next()
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		for shards := 2; shards <= 1024; shards++ {
			if except != nil && except(interval, shards) {
				continue
			}
			if fault := Spread(ids, shards); fault != "" {
				failed++
				example = time.Duration(interval*1e6).String() + " apart: " + fault
			}
		}
	}
	return failed, example
}

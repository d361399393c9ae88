package ages

import (
	"cmp"
	"slices"
	"testing"
	"time"
)

// Past times come before future ones, and near ones before others.
func TestDistance(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	times := []time.Time{now, now.Add(time.Hour), now.Add(-2 * time.Hour), now.Add(24 * time.Hour), now.AddDate(-300, 0, 0), now.Add(25 * time.Hour), now.AddDate(300, 0, 0)}
	g := At(now)
	if !slices.IsSortedFunc(times, func(a, b time.Time) int {
		_, first := g.Weigh(a)
		_, second := g.Weigh(b)
		return cmp.Compare(first, second)
	}) {
		t.Error("the distances are in another order")
	}
}

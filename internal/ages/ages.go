// Package ages says how old IDs can be, for guesses of the format of an ID.
package ages

import "time"

const (
	skew  = 24 * time.Hour // clocks differ, and dates of time zones
	years = 20             // no ID of today's formats is older
)

// Plausible returns the first and the last plausible time.
func Plausible(now time.Time) (first, last time.Time) {
	return now.AddDate(-years, 0, 0), now.Add(skew)
}

// Distance returns how far the time of a guess is from now, for comparisons alone: the number has no unit. A time
// before now is nearer than any time after the plausible ones.
func Distance(t, now time.Time) int64 {
	const future = 1 << 62
	ms := max(t.UnixMilli()-now.UnixMilli(), now.UnixMilli()-t.UnixMilli()) // a time.Duration ends at 292 years
	if t.After(now.Add(skew)) {
		return future + min(ms, future-1)
	}
	return min(ms, future-1)
}

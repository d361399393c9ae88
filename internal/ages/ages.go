// Package ages says how old IDs can be, for guesses of the format of an ID, and for times that people write.
package ages

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	skew  = 24 * time.Hour // clocks differ, and dates of time zones
	years = 20             // no ID of today's formats is older
)

// Guesses weighs the times of guesses, in Unix milliseconds. The zero Guesses is not ready for use.
type Guesses struct{ first, now, last int64 }

// At returns the Guesses at a time.
func At(now time.Time) Guesses {
	return Guesses{now.AddDate(-years, 0, 0).UnixMilli(), now.UnixMilli(), now.Add(skew).UnixMilli()}
}

// First returns the first plausible time.
func (g *Guesses) First() time.Time { return time.UnixMilli(g.first) }

// Weigh reports whether the time of a guess is plausible. The distance is how far the time is from now, for
// comparisons alone: the number has no unit. A time before now is nearer than any time after the plausible ones.
func (g *Guesses) Weigh(t time.Time) (plausible bool, distance int64) {
	const future = 1 << 62
	ms := t.UnixMilli()
	distance = min(max(ms-g.now, g.now-ms), future-1) // a time.Duration ends at 292 years
	if ms > g.last {
		distance += future
	}
	return g.first <= ms && ms <= g.last, distance
}

// Unix returns the time of Unix milliseconds that a person wrote. A number below 10^11 is seconds, or a date without
// hyphens: as milliseconds it is before 1973-03-04. 0 is the same in both, and nobody writes seconds of a time before 1970.
func Unix(ms int64) (time.Time, error) {
	if 0 < ms && ms < 1e11 {
		if day, err := time.Parse("20060102", strconv.FormatInt(ms, 10)); err == nil {
			return time.Time{}, errors.New("looks like a date, not Unix milliseconds: write " + day.Format(time.DateOnly))
		}
		return time.Time{}, fmt.Errorf("looks like seconds (%s), not Unix milliseconds: write %d", time.Unix(ms, 0).UTC().Format(time.RFC3339), ms*1000)
	}
	return time.UnixMilli(ms).UTC(), nil
}

package stats

import (
	"maps"
	"slices"
	"time"
)

// A timeline counts IDs by their time, in bounded memory: if too many periods have IDs, the periods
// become longer. Periods without IDs take no memory, so that a few IDs of wrong times do not make the
// periods long.
type timeline struct {
	level   int              // of periods
	periods map[int64]uint64 // IDs, by the beginning of the period
	last    int64            // the period of the IDs before
	pending uint64           // IDs of the last period
}

// mostPeriods is how many periods a timeline keeps.
const mostPeriods = 1 << 14

// levels are the lengths of a timeline's periods, in milliseconds. Each is a multiple of the length before.
var levels = []int64{1, 10, 100, second, 10 * second, minute, 10 * minute, hour, day, 10 * day, 100 * day, 1000 * day, 10000 * day}

const (
	second = 1000 // milliseconds
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
)

// add counts IDs of a time in Unix milliseconds.
func (t *timeline) add(ms int64, ids uint64) {
	if period := ms - floorMod(ms, levels[t.level]); period != t.last {
		t.settle()
		t.last = period
	}
	t.pending += ids
}

// settle moves the pending IDs to their period.
func (t *timeline) settle() {
	if t.pending == 0 {
		return
	}
	if t.periods == nil {
		t.periods = make(map[int64]uint64)
	}
	t.periods[t.last] += t.pending
	t.pending = 0
	for len(t.periods) > mostPeriods && t.level < len(levels)-1 {
		t.level++
		longer := make(map[int64]uint64)
		for start, ids := range t.periods {
			longer[start-floorMod(start, levels[t.level])] += ids
		}
		t.periods = longer
	}
}

// floorMod returns the remainder of a division that rounds down.
func floorMod(a, b int64) int64 { return (a%b + b) % b }

// A unit is the time of a bar.
type unit struct {
	text   string
	ms     int64 // 0 for units of months
	months int
}

// units are the units of histograms, from the shortest.
var units = []unit{
	{"millisecond", 1, 0}, {"2 ms", 2, 0}, {"4 ms", 4, 0}, {"20 ms", 20, 0}, {"100 ms", 100, 0}, {"200 ms", 200, 0},
	{"second", second, 0}, {"2 seconds", 2 * second, 0}, {"10 seconds", 10 * second, 0}, {"20 seconds", 20 * second, 0},
	{"minute", minute, 0}, {"2 minutes", 2 * minute, 0}, {"10 minutes", 10 * minute, 0}, {"30 minutes", 30 * minute, 0},
	{"hour", hour, 0}, {"3 hours", 3 * hour, 0}, {"6 hours", 6 * hour, 0}, {"12 hours", 12 * hour, 0},
	{"day", day, 0}, {"2 days", 2 * day, 0}, {"week", 7 * day, 0}, {"2 weeks", 14 * day, 0},
	{"month", 0, 1}, {"2 months", 0, 2}, {"quarter", 0, 3}, {"6 months", 0, 6}, {"year", 0, 12}, {"2 years", 0, 24}, {"5 years", 0, 60},
	{"10 years", 0, 120}, {"20 years", 0, 240}, {"50 years", 0, 600}, {"100 years", 0, 1200}, {"200 years", 0, 2400}, {"500 years", 0, 6000},
	{"1000 years", 0, 12000},
}

// monday is the beginning of a week, in Unix milliseconds.
const monday = 4 * day

// start returns the beginning of the unit that has the time.
func (u unit) start(t time.Time) time.Time {
	if u.months == 0 {
		return time.UnixMilli(t.UnixMilli() - floorMod(t.UnixMilli()-monday, u.ms)).UTC()
	}
	months := int64(t.Year())*12 + int64(t.Month()) - 1
	return time.Date(0, time.Month(months-floorMod(months, int64(u.months))+1), 1, 0, 0, 0, 0, time.UTC)
}

// next returns the beginning of the unit after the one that begins at t.
func (u unit) next(t time.Time) time.Time {
	if u.months == 0 {
		return time.UnixMilli(t.UnixMilli() + u.ms).UTC()
	}
	return t.AddDate(0, u.months, 0)
}

// holds reports whether the unit has whole periods of this length in milliseconds, or at least ten of them.
func (u unit) holds(period int64) bool {
	length := u.ms + int64(u.months)*30*day
	return u.ms > 0 && u.ms%period == 0 || length >= 10*period || u.months > 0 && period == day
}

// count returns how many units it takes from first to last, at most limit.
func (u unit) count(first, last time.Time, limit int) int {
	n := 1
	for t := u.start(first); n < limit && u.next(t).Compare(last) <= 0; t = u.next(t) {
		n++
	}
	return n
}

// Few IDs at wrong times must not make the plot of all others a single bar. A histogram shows the time
// that has all IDs but a thousandth at either end, if the time of all is much longer.
const (
	outside = 1000 // the part of the IDs that a plot may leave out at either end
	longer  = 20   // times
)

// histogram returns the IDs over time in at most so many bars, for a plot. tick is the length of a tick
// in milliseconds: a unit of fewer milliseconds would have bars without IDs.
func (t *timeline) histogram(most int, tick int64) timeReport {
	h := timeReport{Bars: []barReport{}}
	t.settle()
	starts := slices.Sorted(maps.Keys(t.periods))
	if len(starts) == 0 {
		return h
	}
	var first, last int64
	first, last, h.rate = t.core(starts)
	h.unit = fitting(time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC(), most, levels[t.level], tick)
	h.Unit = h.unit.text
	start, end := h.unit.start(time.UnixMilli(first).UTC()), time.UnixMilli(last)
	for ; !start.After(end); start = h.unit.next(start) {
		h.Bars = append(h.Bars, barReport{Time: moment{start}})
	}
	for _, start := range starts {
		ids := t.periods[start]
		switch at := time.UnixMilli(start).UTC(); {
		case at.Before(h.Bars[0].Time.Time):
			h.Before += ids
		case !at.Before(h.unit.next(h.Bars[len(h.Bars)-1].Time.Time)):
			h.After += ids
		default:
			i, found := slices.BinarySearchFunc(h.Bars, at, func(b barReport, at time.Time) int {
				return b.Time.Compare(at)
			})
			if !found {
				i--
			}
			h.Bars[i].IDs += ids
		}
	}
	return h
}

// core returns the first and the last period of a plot, and the rate between them. starts are the periods with
// IDs. The rate counts no IDs that a plot may leave out.
func (t *timeline) core(starts []int64) (first, last int64, rate float64) {
	var all uint64
	for _, ids := range t.periods {
		all += ids
	}
	low, high := 0, len(starts)-1
	inner := all
	for left := all / outside; t.periods[starts[low]] <= left; low++ {
		left -= t.periods[starts[low]]
		inner -= t.periods[starts[low]]
	}
	for right := all / outside; t.periods[starts[high]] <= right; high-- {
		right -= t.periods[starts[high]]
		inner -= t.periods[starts[high]]
	}
	first, last = starts[0], starts[len(starts)-1]
	length := starts[high] - starts[low] + levels[t.level]
	rate = float64(inner) / float64(length) * second
	if (last-first)/longer > length {
		return max(first, starts[low]-length/10), min(last, starts[high]+length/10), rate
	}
	return first, last, rate
}

// fitting returns the shortest unit that has the time from first to last in at most so many bars, and whole
// periods of both lengths.
func fitting(first, last time.Time, most int, period, tick int64) unit {
	for _, u := range units {
		if u.holds(period) && u.holds(tick) && u.count(first, last, most+1) <= most {
			return u
		}
	}
	return units[len(units)-1]
}

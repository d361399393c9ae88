package stats

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

// A report is what a counter has found, as people and programs read it.
type report struct {
	Format    string  `json:"format"`
	IDs       uint64  `json:"ids"`
	Malformed uint64  `json:"malformed"`
	First     *moment `json:"first"` // nil without IDs
	Last      *moment `json:"last"`
	PerSecond float64 `json:"ids_per_second"` // on average, without the few IDs far from all others

	Epoch  moment `json:"epoch"`
	TickUS int64  `json:"tick_us"` // microseconds

	Time    timeReport    `json:"time"`
	Workers *workerReport `json:"workers,omitempty"`
	Bursts  *burstReport  `json:"bursts,omitempty"`
	Fill    *fillReport   `json:"fill,omitempty"`

	// SplitTicks and SplitSeconds may have been counted in parts.
	SplitTicks   uint64 `json:"split_ticks"`
	SplitSeconds uint64 `json:"split_seconds"`
}

// A moment is a time. In JSON, times after the year 9999 are null, since RFC 3339 ends there.
type moment struct{ time.Time }

func (m moment) MarshalJSON() ([]byte, error) {
	if m.Year() > 9999 || m.Year() < 0 {
		return []byte("null"), nil
	}
	return m.Time.MarshalJSON()
}

// A timeReport is IDs over time.
type timeReport struct {
	Unit   string      `json:"unit"`
	Bars   []barReport `json:"bars"`
	Before uint64      `json:"before"` // IDs before the first bar
	After  uint64      `json:"after"`  // IDs after the last bar

	unit unit
	rate float64 // IDs a second in the time of the bars that has nearly all IDs
}

type barReport struct {
	Time moment `json:"time"`
	IDs  uint64 `json:"ids"`
}

// A workerReport is IDs by worker.
type workerReport struct {
	Field  string `json:"field"`
	Count  int    `json:"count"`
	Top    []rank `json:"top"`
	Others uint64 `json:"others"` // IDs of the workers that are not in Top
	name   string // of the worker's number
}

// A burstReport is the most IDs in a short time.
type burstReport struct {
	Tick   tickBurst   `json:"tick"`
	Second secondBurst `json:"second"`
}

type tickBurst struct {
	IDs    uint64  `json:"ids"`
	Time   moment  `json:"time"`
	Worker *uint32 `json:"worker,omitempty"`
}

type secondBurst struct {
	IDs     uint64 `json:"ids"`
	Time    moment `json:"time"`
	Seconds int64  `json:"seconds"` // that have IDs
	Median  int64  `json:"median"`  // of these seconds
	P99     int64  `json:"p99"`
}

// A fillReport is how full ticks are.
type fillReport struct {
	Capacity uint64        `json:"capacity"`
	Ticks    int64         `json:"ticks"`
	Median   int64         `json:"median"` // IDs of a tick
	P99      int64         `json:"p99"`
	Most     uint64        `json:"most"`
	Full     uint64        `json:"full"` // ticks
	Shares   []shareReport `json:"shares"`

	random bool // the sequence of a tick begins at a random number
}

// A shareReport is the ticks up to a share of the capacity, and above the share before.
type shareReport struct {
	Name    string  `json:"name"`
	Percent float64 `json:"percent,omitempty"`
	Ticks   uint64  `json:"ticks"`
}

// mostBars is how many bars of time a report has.
const mostBars = 120

// report returns the report of a counter that is closed, with so many workers.
func (c *counter) report(format, workerName string, malformed uint64, top int64) *report {
	tick := c.shape.Unit
	if c.micro.Bits > 0 {
		tick = time.Microsecond
	}
	r := &report{Format: format, IDs: c.ids, Malformed: malformed, Epoch: moment{time.UnixMilli(c.shape.Epoch).UTC()},
		TickUS: tick.Microseconds(), SplitTicks: c.ticks.split, SplitSeconds: c.seconds.split, Time: c.timeReport(mostBars)}
	if c.ids > 0 {
		first, last := c.tickTime(c.first), c.tickTime(c.last)
		r.First, r.Last = &moment{first}, &moment{last}
		seconds := float64(last.UnixMicro()-first.UnixMicro()+r.TickUS) / 1e6 // a time.Duration ends at 292 years
		r.PerSecond = float64(c.ids) / seconds
		if r.Time.Before+r.Time.After > 0 {
			r.PerSecond = r.Time.rate
		}
		r.Bursts, r.Fill = c.bursts(), c.fillReport()
		if c.from.Bits > 0 {
			r.Workers = c.workerReport(workerName, top)
		}
	}
	return r
}

// timeReport returns the IDs over time in at most so many bars.
func (c *counter) timeReport(most int) timeReport {
	return c.line.histogram(most, max(c.shape.Unit.Milliseconds(), 1))
}

func (c *counter) workerReport(name string, top int64) *workerReport {
	ranking := c.ticks.ranking()
	w := &workerReport{Field: c.from.Name, Count: len(ranking), Top: ranking[:min(top, int64(len(ranking)))], Others: c.ids, name: name}
	for _, one := range w.Top {
		w.Others -= one.IDs
	}
	return w
}

func (c *counter) bursts() *burstReport {
	b := &burstReport{
		Tick: tickBurst{IDs: c.fullest.ids, Time: moment{c.tickTime(c.fullest.tick)}},
		Second: secondBurst{IDs: c.busiest.ids, Time: moment{c.secondTime(c.busiest.tick)},
			Seconds: c.rates.size(), Median: c.rates.atMost(50), P99: c.rates.atMost(99)},
	}
	if c.from.Bits > 0 {
		b.Tick.Worker = &c.fullest.worker
	}
	return b
}

func (c *counter) fillReport() *fillReport {
	f := &fillReport{Capacity: c.fill.capacity, Ticks: c.fill.ids.size(), Median: c.fill.ids.atMost(50), P99: c.fill.ids.atMost(99),
		Most: c.fullest.ids, Full: c.fill.ticks[full], random: c.shape.Fields[c.shape.Sequence].Random}
	for place, ticks := range c.fill.ticks {
		share := shareReport{Ticks: ticks}
		switch place {
		case single:
			share.Name = "1 ID"
		case below:
			share.Name, share.Percent = "< 100%", 100
		case full:
			share.Name, share.Percent = fullName, 100
		default:
			share.Percent = shares[place-1]
			share.Name = fmt.Sprintf("≤ %v%%", share.Percent)
		}
		f.Shares = append(f.Shares, share)
	}
	return f
}

// number writes a number with commas between thousands.
func number[N uint64 | int64 | int](n N) string { return humanize.Comma(int64(n)) }

// plural writes a number of things.
func plural[N uint64 | int64 | int](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return number(n) + " " + thing
}

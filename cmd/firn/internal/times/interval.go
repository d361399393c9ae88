package times

import (
	"fmt"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/iderr"
)

// An interval is a half-open interval of times, and the timestamps of the ticks that have a part of it.
//
// The first and the last tick count as a whole: a generator gives an ID the time of the tick's beginning, so
// the IDs of rows made at the interval's ends may say a time before.
type interval struct {
	layout
	from, to    time.Time // to is excluded
	first, last int64     // timestamps
}

// intervalFlags are the flags for an interval.
type intervalFlags struct {
	from, to cli.Time
	last     cli.Span
	now      func() time.Time
}

// interval returns the interval of the flags, or an error of usage.
func (f *intervalFlags) interval(l layout) (interval, error) {
	switch {
	case f.last.Given && (f.from.Given || f.to.Given):
		return interval{}, cli.Usagef("--last %s: cannot be used with --from and --to", f.last.Text)
	case f.last.Given:
		to := f.now().UTC()
		f.from = cli.Time{Value: to.Add(-f.last.Value)}
		f.to = cli.Time{Value: to}
	case !f.from.Given && !f.to.Given:
		return interval{}, cli.Usagef("no times given: want --from and --to, or --last")
	case !f.to.Given:
		return interval{}, cli.Usagef("--from %s: needs --to, the end of the interval", f.from.Text)
	case !f.from.Given:
		return interval{}, cli.Usagef("--to %s: needs --from, the start of the interval", f.to.Text)
	case !f.to.Value.After(f.from.Value):
		return interval{}, cli.BadFlag("to", f.to.Text, "is not after --from "+cli.Plain(f.from.Text))
	}
	i := interval{layout: l, from: f.from.Value, to: f.to.Value}
	var ok bool
	if i.first, ok = l.shape.Timestamp(i.from); !ok {
		return i, f.outside("from", f.from, l)
	}
	if i.last, ok = l.shape.Timestamp(i.to.Add(-1)); !ok {
		return i, f.outside("to", f.to, l)
	}
	return i, nil
}

// outside returns the error of an end that the format's timestamps do not reach.
func (f *intervalFlags) outside(flag string, at cli.Time, l layout) error {
	if f.last.Given {
		flag, at.Text = "last", f.last.Text
	}
	return cli.Usagef("--%s %s: %w", flag, cli.Plain(at.Text), outsideOf(l, at))
}

// outsideOf returns the error of a time that the format's timestamps do not reach. The remedy is another time,
// or the epoch that the IDs have.
func outsideOf(l layout, at cli.Time) error {
	first, last := l.shape.Start(), l.shape.End().Add(-time.Millisecond)
	if l.Descriptor().Reserved {
		first, last = first.Add(l.shape.Unit), last.Add(-l.shape.Unit)
	}
	err := fmt.Errorf("%w", &iderr.TimeError{Format: l.Name(), Time: at.Value, First: first, Last: last})
	if l.Has("epoch") {
		err = fmt.Errorf("%w, or name the epoch of the IDs by --epoch", err)
	}
	return err
}

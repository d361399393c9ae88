package mint

import (
	"fmt"
	"strconv"
	"time"

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
)

// Leased is a mint as its lease sees it. A format fills in what the mint does not know, and returns
// the value from its method ForLease.
type Leased struct {
	Mint    *Mint
	Name    string // of the pool, if the epoch is the format's default
	Widths  []int  // as in allot.Layout
	Workers int    // as in allot.Layout
	Epoch   int64  // the default of the format, in units from the Unix epoch

	Field string // of Config that sets a worker by hand; "" if the format has no worker
	Shift uint   // of a worker in an ID
}

// Pool implements [allot.Generator].
func (l Leased) Pool() (allot.Pool, error) {
	m := l.Mint
	switch {
	case m.format == "":
		return allot.Pool{}, fmt.Errorf("%s: %w", l.Name, iderr.ErrNotReady)
	case !m.leased:
		return allot.Pool{}, wrong.NotLeased(m.format)
	case m.fence.Sealed():
		return allot.Pool{}, m.fence.Err(m.format)
	}
	epoch, name := m.Epoch(), l.Name
	if m.epoch != l.Epoch {
		name += "@" + strconv.FormatInt(epoch.UnixMilli(), 10)
	}
	return allot.Pool{Name: name, Layout: allot.Layout{
		Format: m.format, Epoch: epoch, Unit: m.unit, Widths: l.Widths, Workers: l.Workers}}, nil
}

// Now implements [allot.Generator].
func (l Leased) Now() time.Time { return l.Mint.clock.Now() }

// Allot implements [allot.Generator].
func (l Leased) Allot(worker int, from, until time.Time) error {
	switch {
	case l.Field == "" && worker != 0:
		return wrong.Config(l.Mint.format, "worker", worker, "0: the format has no workers")
	case worker < 0 || worker >= l.Workers:
		return wrong.Config(l.Mint.format, l.Field, worker, "in 0 to "+strconv.Itoa(l.Workers-1))
	case !l.Mint.leased:
		return wrong.NotLeased(l.Mint.format)
	}
	l.Mint.Allot(uint64(worker)<<l.Shift, from, until)
	return nil
}

// Withdraw implements [allot.Generator].
func (l Leased) Withdraw() time.Time { return l.Mint.Withdraw() }

// Refuse implements [allot.Generator].
func (l Leased) Refuse(why error) { l.Mint.Refuse(why) }

// Seal implements [allot.Generator].
func (l Leased) Seal(why error) time.Time { return l.Mint.Seal(why) }

// Allot allots the whole ticks in [from, until) to the worker. The mint must have begun fenced.
// Ticks allotted before stay with the old worker.
func (m *Mint) Allot(worker uint64, from, until time.Time) {
	lo := m.clamp(from)
	if m.inRange(lo) && m.timeOf(lo).Before(from) {
		lo++
	}
	m.fence.Extend((*allotment)(m), worker, lo, m.clamp(until))
}

// clamp returns the timestamp of t, limited to the first timestamp and the tick after the last.
func (m *Mint) clamp(t time.Time) uint64 {
	now := m.tickOf(t)
	switch {
	case m.inRange(now):
		return now
	case t.Before(m.timeOf(m.first)):
		return m.first
	}
	return m.last + 1
}

// Withdraw takes back the interval beyond a gap, if no caller has entered the interval. Withdraw
// returns the end of the allotted ticks.
func (m *Mint) Withdraw() time.Time { return m.timeOf(m.fence.Withdraw()) }

// Refuse sets the error for callers while nothing is allotted. Allot clears the error.
func (m *Mint) Refuse(err error) { m.fence.Refuse(err) }

// Seal ends the mint for good. It returns the end of the last tick with an issued word, or of the
// last tick left out.
func (m *Mint) Seal(err error) time.Time { return m.timeOf(m.fence.Seal((*allotment)(m), err)) }

// allotment is the mint for its fence, in ticks.
type allotment Mint

// PassTo moves the word to the last sequence of the tick before from. An addition at this moment
// falls into the room above the sequence, and not into the next tick.
func (a *allotment) PassTo(from uint64)   { a.word.Pass((from-1)<<a.bits + a.limit) }
func (a *allotment) RaiseTo(until uint64) { a.word.Raise(until << a.bits) }

func (a *allotment) SealTick() uint64 {
	mark := uint64(1) // words without additions may use all bits
	if a.additive {
		mark = sealMark
	}
	return a.word.Seal(mark)>>a.bits + 1
}

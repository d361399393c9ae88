package mint

import (
	"fmt"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

// Leased is a mint as its lease sees it. A format fills in what the mint does not know, and returns
// the value from its method ForLease.
type Leased struct {
	Mint  *Mint
	Shape shape.Shape // of the IDs, with the format's default epoch
	Field string      // of Config that sets a worker by hand
	Shift uint        // of a worker in a word
}

// Pool implements [grant.Grantee].
func (l Leased) Pool() (grant.Spec, error) {
	m := l.Mint
	switch {
	case m.format == "":
		return grant.Spec{}, fmt.Errorf("%s: %w", l.Shape.Pool, iderr.ErrNotReady)
	case !m.leased:
		return grant.Spec{}, wrong.NotLeased(m.format)
	case m.fence.Sealed():
		return grant.Spec{}, m.fence.Err(m.format)
	}
	epoch, name := m.Epoch(), l.Shape.Pool
	if m.epoch != l.Shape.Epoch {
		name += "@" + strconv.FormatInt(epoch.UnixMilli(), 10)
	}
	layout := l.Shape.Layout(m.format)
	layout.Epoch, layout.Unit = epoch, m.unit // of the mint's ticks
	return grant.Spec{Name: name, Layout: layout, ExpiresAt: m.ExpiresAt()}, nil
}

// Now implements [grant.Grantee].
func (l Leased) Now() time.Time { return l.Mint.clock.Now() }

// Grant implements [grant.Grantee].
func (l Leased) Grant(worker int, from, until time.Time) error {
	switch {
	case l.Shape.Worker == 0 && worker != 0:
		return wrong.Config(l.Mint.format, "worker", worker, "0: the format has no workers")
	case worker < 0 || worker >= l.Shape.Workers():
		return wrong.Config(l.Mint.format, l.Field, worker, "in 0 to "+strconv.Itoa(l.Shape.Workers()-1))
	case !l.Mint.leased:
		return wrong.NotLeased(l.Mint.format)
	}
	l.Mint.Grant(uint64(worker)<<l.Shift, from, until)
	return nil
}

// Withdraw implements [grant.Grantee].
func (l Leased) Withdraw() time.Time { return l.Mint.Withdraw() }

// Refuse implements [grant.Grantee].
func (l Leased) Refuse(why error) { l.Mint.Refuse(why) }

// Delay implements [grant.Grantee].
func (l Leased) Delay(why error) { l.Mint.Delay(why) }

// Seal implements [grant.Grantee].
func (l Leased) Seal(why error) time.Time { return l.Mint.Seal(why) }

// Grant gives the whole ticks in [from, until) to the worker. The mint must have begun fenced.
// Ticks granted before stay with the old worker.
func (m *Mint) Grant(worker uint64, from, until time.Time) {
	lo := m.clamp(from)
	if m.inRange(lo) && m.timeOf(lo).Before(from) {
		lo++
	}
	m.fence.Extend((*behindFence)(m), worker, lo, m.clamp(until))
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
// returns the end of the granted ticks.
func (m *Mint) Withdraw() time.Time { return m.timeOf(m.fence.Withdraw()) }

// Refuse sets the error for callers while nothing is granted. Grant clears the error.
func (m *Mint) Refuse(err error) { m.fence.Refuse(err) }

// Delay makes callers wait for the first grant, and sets the error for callers that cannot wait.
func (m *Mint) Delay(err error) { m.fence.Delay(err) }

// Seal ends the mint for good. It returns the end of the last tick with an issued word, or of the
// last tick left out.
func (m *Mint) Seal(err error) time.Time { return m.timeOf(m.fence.Seal((*behindFence)(m), err)) }

// behindFence is the mint for its fence, in ticks.
type behindFence Mint

func (a *behindFence) PassTo(from uint64)   { (*Mint)(a).pass(from, a.word.Pass) }
func (a *behindFence) RaiseTo(until uint64) { a.word.Raise(until << a.bits) }

func (a *behindFence) SealTick() uint64 {
	mark := uint64(1) // words without additions may use all bits
	if a.additive {
		mark = sealMark
	}
	a.tally.Sealing()
	last := a.word.Seal(mark)
	a.tally.Sealed(last)
	return last>>a.bits + 1
}

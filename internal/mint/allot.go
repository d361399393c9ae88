package mint

import "time"

// Allot lets a mint that began fenced issue words of the whole ticks in [from, until), as
// those of the worker. What was allotted before stays so; a time before its end is left out.
func (m *Mint) Allot(worker uint64, from, until time.Time) {
	lo := m.clamp(from)
	if m.inRange(lo) && m.timeOf(lo).Before(from) {
		lo++
	}
	m.fence.Extend((*allotment)(m), worker, lo, m.clamp(until))
}

// clamp returns the timestamp of t, or the nearest one: the first, or the one after the last.
func (m *Mint) clamp(t time.Time) uint64 {
	now := m.tick(t)
	switch {
	case m.inRange(now):
		return now
	case t.Before(m.timeOf(m.first)):
		return m.first
	}
	return m.last + 1
}

// Withdraw takes back what was allotted beyond a gap, if no word of it was asked for, and returns
// the first time that is not allotted any more.
func (m *Mint) Withdraw() time.Time { return m.timeOf(m.fence.Withdraw()) }

// Refuse sets the error of callers who find that nothing is allotted, until more is.
func (m *Mint) Refuse(err error) { m.fence.Refuse(err) }

// Seal ends the mint: it issues nothing more. It returns the first time from which on the
// mint has issued nothing.
func (m *Mint) Seal(err error) time.Time { return m.timeOf(m.fence.Seal((*allotment)(m), err)) }

// allotment is the mint as its fence sees it, in ticks.
type allotment Mint

// PassTo leaves the word at the end of the tick before, with its room still there: a caller who is
// just about to add to it must not get to the next.
func (a *allotment) PassTo(from uint64)   { a.word.Pass((from-1)<<a.bits + a.limit) }
func (a *allotment) RaiseTo(until uint64) { a.word.Raise(until << a.bits) }

func (a *allotment) SealTick() uint64 {
	mark := uint64(1) // words that are not added may use all bits
	if a.adds {
		mark = sealMark
	}
	return a.word.Seal(mark)>>a.bits + 1
}

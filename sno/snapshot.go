package sno

import (
	"github.com/firn-id/firn/internal/form/wrong"
)

// minPool is the smallest sequence pool: SequenceMax - SequenceMin + 1.
const minPool = 4

// GeneratorSnapshot is the bookkeeping of a Generator at some point in time. Snapshots serve as
// configuration, and to restore generators across restarts: new IDs then do not repeat IDs made
// before.
//
// The field Leased of a snapshot, in JSON "leased", reports that a lease gave the generator its
// partition. NewGenerator refuses such a snapshot.
type GeneratorSnapshot struct {
	// The Partition the generator is scoped to. A zero value ({0, 0}) is valid and will be
	// used.
	Partition Partition `json:"partition"`

	// Sequence pool bounds (inclusive). Can be given in either order: the lower value will
	// become the lower bound. When SequenceMax is 0 and SequenceMin != 65535, SequenceMax
	// will be set to 65535. They must leave room for at least 4.
	SequenceMin uint16 `json:"sequenceMin"`
	SequenceMax uint16 `json:"sequenceMax"`

	// Sequence of the last ID, made at WallHi. When 0, it will be set to SequenceMin. May overflow
	// SequenceMax, but not underflow SequenceMin. If Sequence is SequenceMin and Now is not WallHi,
	// the unit WallHi counts as used up: the replaced package writes such snapshots for any use of
	// the unit.
	Sequence uint32 `json:"sequence"`

	Now      int64  `json:"now"`      // Wall time the snapshot was taken at in time units since our epoch.
	WallHi   int64  `json:"wallHi"`   // Time unit of the last ID; 0 if there was none.
	WallSafe int64  `json:"wallSafe"` // Last time unit that the other setting of the tick-tock bit has used.
	Drifts   uint32 `json:"drifts"`   // Count of wall clock regressions the generator tick-tocked at; its low bit is the tick-tock bit.

	snapshotLease // embedded, so that the exported fields are those of the published package
}

// snapshotLease is the part of a snapshot that the published package does not have.
type snapshotLease struct {
	// Leased reports that a lease gave the generator its partition. NewGenerator refuses such a
	// snapshot: another lease may have the partition by now. To restart, make a generator with
	// Config.Leased and start a lease for it, which needs no snapshot.
	Leased bool `json:"leased,omitempty"`
}

// sanitize puts the bounds in order and fills in the defaults.
func (s *GeneratorSnapshot) sanitize() error {
	if s.SequenceMax == 0 && s.SequenceMin != MaxSequence {
		s.SequenceMax = MaxSequence
	}
	s.SequenceMin, s.SequenceMax = min(s.SequenceMin, s.SequenceMax), max(s.SequenceMin, s.SequenceMax)
	bad := func(msg string) error {
		return &InvalidSequenceBoundsError{Cur: s.Sequence, Min: s.SequenceMin, Max: s.SequenceMax, Msg: msg}
	}
	if int(s.SequenceMax)-int(s.SequenceMin)+1 < minPool {
		return bad("a sequence pool of less than 4")
	}
	if s.Sequence == 0 {
		s.Sequence = uint32(s.SequenceMin)
	}
	if s.Sequence < uint32(s.SequenceMin) {
		return bad("current sequence underflows the bounds")
	}
	if s.Sequence == uint32(s.SequenceMin) && s.Now != s.WallHi {
		// The replaced package writes SequenceMin once the unit of the last ID is over, for any
		// use of the unit. The clock can be set back into the unit.
		s.Sequence = uint32(s.SequenceMax)
	}
	if s.WallHi < 0 || s.WallHi > MaxTimestamp {
		return wrong.Config(format, "WallHi", s.WallHi, "in 0 to 2^39-1")
	}
	if s.WallSafe < 0 || s.WallSafe > MaxTimestamp {
		return wrong.Config(format, "WallSafe", s.WallSafe, "in 0 to 2^39-1")
	}
	return nil
}

// Snapshot returns a copy of the Generator's current bookkeeping data. To restore a generator, take
// the Snapshot after the last ID: a Snapshot does not know later IDs. If another call is reading
// the clock, Now is WallHi.
func (g *Generator) Snapshot() GeneratorSnapshot {
	g.mu.Lock() // the tick-tock bit does not change
	last := g.word.Last()
	s := GeneratorSnapshot{
		Partition:   g.Partition(),
		SequenceMin: uint16(g.min), SequenceMax: uint16(g.max), Sequence: uint32(g.min),
		WallHi: int64(unitIn(last)), WallSafe: int64(g.safe), Drifts: g.drifts,
		snapshotLease: snapshotLease{g.leased},
	}
	g.mu.Unlock()
	if s.WallHi > 0 {
		s.Sequence = g.overflowed(last)
	}
	s.Now = s.WallHi
	if now, ok := g.snapshotUnit(); ok { // after the word: Now is not before WallHi
		s.Now = int64(now)
	}
	return s
}

// snapshotUnit returns the unit of the clock for Snapshot. If another Snapshot is reading the
// clock, ok is false: a program's own clock can take a Snapshot itself.
func (g *Generator) snapshotUnit() (now uint64, ok bool) {
	if !g.taking.CompareAndSwap(false, true) {
		return 0, false
	}
	defer g.taking.Store(false)
	now, _ = unitOf(g.clock.Now())
	return now, true
}

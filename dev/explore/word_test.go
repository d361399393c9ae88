package explore

import (
	"testing"

	"github.com/firn-id/firn/internal/engine/words"
	"github.com/firn-id/firn/internal/testing/services"
)

// Three callers make three IDs each. Each reading of the clock, load of the word, load of the fence
// and swap is a step. In the first model, a caller remembers everything that it has seen in its
// call.
func TestThreeCallersOfThreeIDs(t *testing.T) {
	services.Full(t)
	w := new(words.Word)
	kept := holds(t, &Model{
		Shared: w, Setup: w.Open, Watch: both(increasing, fenced), Format: format,
		Programs: []Program{{Name: "Advance", Actors: 3, Calls: 3, Call: advancing(w)}},
	})
	forgot := holds(t, &Model{
		Shared: w, Setup: w.Open, Watch: distinct, Format: format,
		Programs: []Program{{Name: "Advance", Actors: 3, Calls: 3, Call: advancing(w), Restarts: true}},
	})
	if forgot.States >= kept.States {
		t.Error("forgetting what lost calls have seen saves no states")
	}
}

// Formats also use the word in these ways. One model has a fourth caller.
func TestAdvance(t *testing.T) {
	services.Full(t)
	for _, c := range []struct {
		name         string
		call         func(*words.Word) func() Outcome
		actors, made int
	}{
		{"four callers", advancing, 4, 2},
		{"chosen start", starting, 3, 2},
		{"chosen start, more of each", starting, 2, 3},
		{"random step, carrying", carrying, 3, 2},
		{"random step, carrying, more of each", carrying, 2, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := new(words.Word)
			holds(t, &Model{
				Shared: w, Setup: w.Open, Watch: increasing, Format: format,
				Programs: []Program{{
					Name: "Advance", Actors: c.actors, Calls: c.made, Call: c.call(w), Restarts: true,
				}},
			})
		})
	}
}

// Runs of one or two words, alone and mixed with single words.
func TestReserve(t *testing.T) {
	w := new(words.Word)
	for _, c := range []struct {
		name     string
		programs []Program
	}{
		{"alone", []Program{
			{Name: "Reserve", Actors: 3, Calls: 2, Call: reserving(w), Restarts: true},
		}},
		{"with Advance", []Program{
			{Name: "Reserve", Actors: 2, Calls: 2, Call: reserving(w), Restarts: true},
			{Name: "Advance", Actors: 1, Calls: 2, Call: advancing(w), Restarts: true},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			holds(t, &Model{
				Shared: w, Setup: w.Open, Watch: increasing, Format: format,
				Programs: c.programs,
			})
		})
	}
}

// Callers add words while other callers begin ticks, also at the end of ticks, and reserve runs.
func TestStep(t *testing.T) {
	holds(t, stepModel(new(words.Word), 2, 2))
	holds(t, stepModel(new(words.Word), 1, 3))
}

// Three callers call three times each. Each call either takes the word's tick for the present tick,
// or reads the clock, which shows any tick. The callers of a generator do the same.
func TestThreeCallersOfThreeCallsInEitherWay(t *testing.T) {
	services.Full(t)
	w := new(words.Word)
	step, begin := stepping(w), beginning(w)
	holds(t, &Model{
		Shared: w, Setup: func() { w.Open(); w.Advance(1<<roomy, 0, 1, 2<<roomy) }, Watch: rising,
		Programs: []Program{{Name: "mint", Actors: 3, Calls: 3, Check: afterAll, Call: trying(func() Outcome {
			if Choose("the tick lasts:", 0, 1) == 1 {
				return step()
			}
			return begin()
		})}},
	})
}

// stepModel has callers of Step, a caller of Advance and a caller of Reserve.
func stepModel(w *words.Word, steppers, made int) *Model {
	reserve := func() Outcome {
		floor := Choose("reads the clock:", 1, 2) << roomy
		first, run, _, verdict := w.Reserve(floor, 0, floor+limit, 2)
		if verdict != words.Issued {
			return Outcome{Again: true}
		}
		return Outcome{First: first, Run: run}
	}
	return &Model{
		Shared: w, Setup: func() { w.Open(); w.Advance(1<<roomy, 0, 1, 2<<roomy) }, Watch: rising,
		Programs: []Program{
			{Name: "Step", Actors: steppers, Calls: made, Call: trying(stepping(w)), Check: afterAll},
			{Name: "Advance", Actors: 1, Calls: 2, Call: trying(beginning(w)), Check: afterAll},
			{Name: "Reserve", Actors: 1, Calls: 1, Call: trying(reserve), Check: afterAll},
		},
	}
}

// Callers of Step that continue in an exhausted tick never carry into the time, if the room is as
// wide as the number of callers. The number of calls does not matter.
func TestStepBeyondTheEnd(t *testing.T) {
	services.Full(t)
	holds(t, overdrawnModel(new(words.Word), narrow{bits: 2, limit: 2}, 2, 5))
	holds(t, overdrawnModel(new(words.Word), narrow{bits: 2, limit: 1}, 3, 4))
	holds(t, overdrawnModel(new(words.Word), narrow{bits: 3, limit: 5}, 3, 3))
}

// The bound is exact. With room for all callers but one, a caller carries.
func TestStepBeyondTheEndNeedsTheRoom(t *testing.T) {
	fails(t, overdrawnModel(new(words.Word), narrow{bits: 2, limit: 2}, 3, 5), "carried into the time")
}

// overdrawnModel has callers of Step and a caller that begins ticks. Each caller of Step calls more
// often than the room is wide.
func overdrawnModel(w *words.Word, n narrow, callers, calls int) *Model {
	return &Model{
		Shared: w, Setup: func() { w.Open(); w.Advance(1<<n.bits, 0, 1, 2<<n.bits) }, Watch: n.watch(uint64(callers)),
		Programs: []Program{
			{Name: "Step", Actors: callers, Calls: calls, Call: trying(overdrawing(w, n.limit, n.mask())), Restarts: true},
			{Name: "Advance", Actors: 1, Calls: 2, Call: trying(beginningNarrow(w, n)), Restarts: true},
		},
	}
}

// Callers add words while the fence rises.
func TestStepAtTheFence(t *testing.T) { holds(t, stepFenceModel(new(words.Word))) }

func stepFenceModel(w *words.Word) *Model {
	return &Model{
		Shared: w, Setup: func() { w.Raise(1<<roomy + 2); w.Advance(1<<roomy, 0, 1, 2<<roomy) },
		Watch: both(rising, fenced),
		Programs: []Program{
			{Name: "Step", Actors: 2, Calls: 2, Call: trying(stepping(w)), Check: afterAll},
			{Name: "Advance", Actors: 1, Calls: 2, Call: trying(beginning(w)), Check: afterAll},
			{Name: "Raise", Actors: 1, Calls: 2, Call: raising(w, 1<<roomy+3, 2<<roomy, 2<<roomy+1)},
		},
	}
}

// The fence rises at any moment, to one of several words. Either one caller raises the fence while
// three make IDs, or two callers raise the fence independently while two make IDs.
func TestFence(t *testing.T) {
	holds(t, fenceModel(new(words.Word), 2, 1))
	holds(t, fenceModel(new(words.Word), 1, 2))
}

// fenceModel has callers of Advance and a caller of Reserve while the fence is raised: to the
// middle of a tick, to its end, and beyond all ticks.
func fenceModel(w *words.Word, advancers, raisers int) *Model {
	return &Model{
		Shared: w, Setup: func() { w.Raise(5) }, Watch: both(increasing, fenced), Format: format,
		Programs: []Program{
			{Name: "Advance", Actors: advancers, Calls: 2, Call: advancing(w), Restarts: true, Check: belowSeenFence},
			{Name: "Reserve", Actors: 1, Calls: 3 - advancers, Call: reserving(w), Restarts: true, Check: belowSeenFence},
			{Name: "Raise", Actors: raisers, Calls: 2, Call: raising(w, 6, 8, 11, 16), Restarts: true},
		},
	}
}

// The word is sealed at any moment while other callers make IDs. The fence was raised before.
func TestSeal(t *testing.T) {
	holds(t, sealModel(new(words.Word), 2))
}

// sealModel has callers of Advance and a caller of Reserve while the word is sealed. Each call may
// find no word, and still counts.
func sealModel(w *words.Word, advancers int) *Model {
	return &Model{
		Shared: w, Setup: func() { w.Raise(14) }, Watch: sealed, Format: format,
		Programs: []Program{
			{Name: "Advance", Actors: advancers, Calls: 2, Call: trying(advancing(w)), Restarts: true},
			{Name: "Reserve", Actors: 1, Calls: 1, Call: trying(reserving(w)), Restarts: true},
			{Name: "Seal", Actors: 1, Calls: 1, Call: sealing(w)},
		},
	}
}

// Callers add words while the word is sealed, also beyond the end of a tick.
func TestStepAtTheSeal(t *testing.T) {
	services.Full(t)
	holds(t, stepSealModel(new(words.Word), highMark))
}

// highMark is a bit above the time. The seal of words for Step needs this bit.
const highMark = 1 << 20

// Trim can take back a mark within the sequence, to a state that another caller has seen.
func TestStepAtTheSealNeedsAHighMark(t *testing.T) {
	fails(t, stepSealModel(new(words.Word), 1), "the seal")
}

func stepSealModel(w *words.Word, mark uint64) *Model {
	const limit, mask = 2, 1<<2 - 1
	return &Model{
		Shared: w, Setup: func() { w.Raise(2 * highMark); w.Advance(1<<2, 0, 1, 2<<2) }, Watch: sealed,
		Programs: []Program{
			{Name: "Step", Actors: 2, Calls: 3, Call: trying(overdrawing(w, limit, mask)), Restarts: true},
			{Name: "Advance", Actors: 1, Calls: 1, Call: trying(beginningNarrow(w, narrow{bits: 2, limit: limit})), Restarts: true},
			{Name: "Seal", Actors: 1, Calls: 1, Call: func() Outcome { return Outcome{First: w.Seal(mark), Run: 1} }},
		},
	}
}

// trying makes a call count even if the call finds no word.
func trying(call func() Outcome) func() Outcome {
	return func() Outcome {
		o := call()
		o.Again = false
		return o
	}
}

// Words still only increase while a caller passes over words.
func TestPass(t *testing.T) {
	holds(t, passModel(new(words.Word), 2))
}

func passModel(w *words.Word, advancers int) *Model {
	return &Model{
		Shared: w, Setup: w.Open, Watch: increasing, Format: format,
		Programs: []Program{
			{Name: "Advance", Actors: advancers, Calls: 2, Call: trying(advancing(w)), Restarts: true},
			{Name: "Pass", Actors: 1, Calls: 2, Call: passing(w, 6, 8, 12), Restarts: true},
		},
	}
}

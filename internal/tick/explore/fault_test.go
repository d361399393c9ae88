package explore

import (
	"testing"

	blindtrim "github.com/firn-id/firn/internal/tick/explore/mutant/blindtrim"
	deeptrim "github.com/firn-id/firn/internal/tick/explore/mutant/deeptrim"
	earlyseal "github.com/firn-id/firn/internal/tick/explore/mutant/earlyseal"
	earlystep "github.com/firn-id/firn/internal/tick/explore/mutant/earlystep"
	fencefalls "github.com/firn-id/firn/internal/tick/explore/mutant/fencefalls"
	noswap "github.com/firn-id/firn/internal/tick/explore/mutant/noswap"
	notrim "github.com/firn-id/firn/internal/tick/explore/mutant/notrim"
	openseal "github.com/firn-id/firn/internal/tick/explore/mutant/openseal"
	overfence "github.com/firn-id/firn/internal/tick/explore/mutant/overfence"
	overstep "github.com/firn-id/firn/internal/tick/explore/mutant/overstep"
	quietseal "github.com/firn-id/firn/internal/tick/explore/mutant/quietseal"
	runoverfence "github.com/firn-id/firn/internal/tick/explore/mutant/runoverfence"
	shortrun "github.com/firn-id/firn/internal/tick/explore/mutant/shortrun"
	softpass "github.com/firn-id/firn/internal/tick/explore/mutant/softpass"
	stale "github.com/firn-id/firn/internal/tick/explore/mutant/stale"
	storestep "github.com/firn-id/firn/internal/tick/explore/mutant/storestep"
	"github.com/firn-id/firn/internal/tick/explore/split"
)

// splitting makes one ID of two atomics. Sequences that run over take no part: the
// fault needs none.
func splitting(g *split.Generator) func() Outcome {
	return func() Outcome {
		time, seq := g.Next(Choose("reads the clock:", ticks...))
		return Outcome{First: time<<bits + seq, Run: 1}
	}
}

func splitModel(callers, made int) *Model {
	g := new(split.Generator)
	return &Model{
		Shared: g, Watch: distinct, Format: format,
		Programs: []Program{{Name: "Next", Actors: callers, Calls: made, Call: splitting(g)}},
	}
}

// A time and a sequence in two atomics give an ID twice.
func TestTwoAtomicsGiveADuplicate(t *testing.T) {
	fails(t, splitModel(2, 1), "issued twice")
}

// The fault is one of callers who meet: alone, the same code makes four distinct
// IDs whatever the clock does.
func TestTwoAtomicsAreRightAlone(t *testing.T) {
	if r := splitModel(1, 4).Search(); r.Violation != "" || r.Ends == 0 {
		t.Errorf("%s: %v", r.Violation, r.Trace)
	}
}

// Each mutant has one fault, which the search must find. Mutants may keep in mind
// what they saw before a lost swap, so nothing is forgotten (no Restarts).
func TestMutants(t *testing.T) {
	t.Run("noswap", func(t *testing.T) {
		w := new(noswap.Word)
		fails(t, &Model{
			Shared: w, Setup: w.Open, Watch: distinct, Format: format,
			Programs: []Program{{Name: "Advance", Actors: 2, Calls: 1, Call: advancing(w)}},
		}, "issued twice")
	})
	t.Run("stale", func(t *testing.T) {
		w := new(stale.Word)
		fails(t, &Model{
			Shared: w, Setup: w.Open, Watch: distinct, Format: format,
			Programs: []Program{{Name: "Advance", Actors: 2, Calls: 2, Call: advancing(w)}},
		}, "issued twice")
	})
	t.Run("shortrun", func(t *testing.T) {
		w := new(shortrun.Word)
		fails(t, &Model{
			Shared: w, Setup: w.Open, Watch: distinct, Format: format,
			Programs: []Program{{Name: "Reserve", Actors: 2, Calls: 1, Call: reserving(w)}},
		}, "issued twice")
	})
	t.Run("overfence", func(t *testing.T) {
		fails(t, forgetNothing(fenceModel(new(overfence.Word), 1, 1)), "fence")
	})
	t.Run("runoverfence", func(t *testing.T) {
		fails(t, forgetNothing(fenceModel(new(runoverfence.Word), 1, 1)), "fence")
	})
	t.Run("softpass", func(t *testing.T) {
		fails(t, forgetNothing(passModel(new(softpass.Word), 1)), "was issued after")
	})
	t.Run("storestep", func(t *testing.T) {
		fails(t, stepModel(new(storestep.Word), 2, 1), "issued twice")
	})
	t.Run("overstep", func(t *testing.T) {
		fails(t, stepModel(new(overstep.Word), 2, 2), "past its end")
	})
	t.Run("earlystep", func(t *testing.T) {
		fails(t, stepSealModel(new(earlystep.Word), highMark), "the seal")
	})
	t.Run("notrim", func(t *testing.T) {
		fails(t, overdrawnModel(new(notrim.Word), narrow{bits: 2, limit: 2}, 2, 5), "Step carried into the time")
	})
	t.Run("blindtrim", func(t *testing.T) {
		fails(t, overdrawnModel(new(blindtrim.Word), narrow{bits: 2, limit: 2}, 2, 5), "Step carried into the time")
	})
	t.Run("deeptrim", func(t *testing.T) {
		fails(t, overdrawnModel(new(deeptrim.Word), narrow{bits: 2, limit: 2}, 2, 5), "issued twice")
	})
	t.Run("openseal", func(t *testing.T) {
		fails(t, forgetNothing(sealModel(new(openseal.Word), 1)), "after the seal")
	})
	t.Run("quietseal", func(t *testing.T) {
		fails(t, forgetNothing(sealModel(new(quietseal.Word), 1)), "after the seal")
	})
	t.Run("earlyseal", func(t *testing.T) {
		fails(t, forgetNothing(sealModel(new(earlyseal.Word), 1)), "the seal")
	})
	t.Run("fencefalls", func(t *testing.T) {
		fails(t, forgetNothing(fenceModel(new(fencefalls.Word), 1, 2)), "the fence fell")
	})
}

func forgetNothing(m *Model) *Model {
	for i := range m.Programs {
		m.Programs[i].Restarts = false
	}
	return m
}

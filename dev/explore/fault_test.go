package explore

import (
	"reflect"
	"strings"
	"testing"

	words "github.com/firn-id/firn/dev/explore/simwords"
	"github.com/firn-id/firn/dev/explore/split"
)

// splitting makes an ID from two atomics. It ignores sequences beyond the end, since the fault does
// not need these sequences.
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

// A time and a sequence in two atomics issue an ID twice.
func TestTwoAtomicsGiveADuplicate(t *testing.T) {
	fails(t, splitModel(2, 1), "issued twice")
}

// The fault needs two callers. With one caller, the same code makes four distinct IDs for any
// clock.
func TestTwoAtomicsAreRightAlone(t *testing.T) {
	if r := splitModel(1, 4).Search(); r.Violation != "" || r.Ends == 0 {
		t.Errorf("%s: %v", r.Violation, r.Trace)
	}
}

// Each mutant has one fault, which the search must find. A mutant may remember values from before a
// lost swap. So forgetNothing clears Restarts, except for mutants of Step and Trim, which start
// again as the right methods do.
func TestMutants(t *testing.T) {
	advance := func(w word, calls int) *Model {
		return &Model{
			Shared: w, Setup: w.Open, Watch: distinct, Format: format,
			Programs: []Program{{Name: "Advance", Actors: 2, Calls: calls, Call: advancing(w)}},
		}
	}
	reserve := func(w word) *Model {
		return &Model{
			Shared: w, Setup: w.Open, Watch: distinct, Format: format,
			Programs: []Program{{Name: "Reserve", Actors: 2, Calls: 1, Call: reserving(w)}},
		}
	}
	twoInTwoBits := narrow{bits: 2, limit: 2}
	searched := make(map[string]bool)
	for _, v := range []struct {
		model *Model
		want  string
	}{
		{advance(new(words.NoSwap), 1), "issued twice"},
		{advance(new(words.Stale), 2), "issued twice"},
		{reserve(new(words.ShortRun)), "issued twice"},
		{forgetNothing(fenceModel(new(words.OverFence), 1, 1)), "fence"},
		{forgetNothing(fenceModel(new(words.RunOverFence), 1, 1)), "fence"},
		{forgetNothing(passModel(new(words.SoftPass), 1)), "was issued after"},
		{stepModel(new(words.StoreStep), 2, 1), "issued twice"},
		{stepModel(new(words.OverStep), 2, 2), "past its end"},
		{stepSealModel(new(words.EarlyStep), highMark), "the seal"},
		{overdrawnModel(new(words.NoTrim), twoInTwoBits, 2, 5), "Step carried into the time"},
		{overdrawnModel(new(words.BlindTrim), twoInTwoBits, 2, 5), "Step carried into the time"},
		{overdrawnModel(new(words.DeepTrim), twoInTwoBits, 2, 5), "issued twice"},
		{forgetNothing(sealModel(new(words.OpenSeal), 1)), "after the seal"},
		{forgetNothing(sealModel(new(words.QuietSeal), 1)), "after the seal"},
		{forgetNothing(sealModel(new(words.EarlySeal), 1)), "the seal"},
		{forgetNothing(fenceModel(new(words.FenceFalls), 1, 2)), "the fence fell"},
	} {
		name := reflect.TypeOf(v.model.Shared).Elem().Name()
		searched[name] = true
		t.Run(name, func(t *testing.T) { fails(t, v.model, v.want) })
	}
	for method := range startAgain(t, "simwords/mutants.go") {
		if mutant, _, _ := strings.Cut(method, "."); !searched[mutant] {
			t.Errorf("no search for the fault of %s", mutant)
		}
	}
}

func forgetNothing(m *Model) *Model {
	for i := range m.Programs {
		m.Programs[i].Restarts = false
	}
	return m
}

package explore

import (
	"fmt"
	"testing"

	steps "github.com/firn-id/firn/dev/explore/simsteps"
	"github.com/firn-id/firn/dev/explore/simsteps/mutants"
	"github.com/firn-id/firn/internal/engine/words"
	"github.com/firn-id/firn/internal/testing/services"
)

// valuer is the steps of package steps, or those with a fault.
type valuer[look any] interface {
	Init(field, valueBits, stepBits uint, rand func([]uint64))
	Look() look
	At(l look, word uint64) (uint64, bool)
	Find(word uint64) (uint64, words.Verdict)
}

// Words of steps have 2 bits for the count. Values have 3 bits.
const (
	countBits = 2
	valueBits = 3
	over      = 15 // in place of a value: the tick has no value left
)

// rolling draws bits that mean a low start and steps of 1, or a high start and steps of 2. The values
// of a tick then end early, late or not at all.
func rolling(p []uint64) {
	bits := Choose("draws", 0x1555555515555555, 0xaaaaaaaaaaaaaaaa)
	for i := range p {
		p[i] = bits
	}
}

// valuing asks for the values of words as a mint does. A caller may look long before it takes its
// word. In a mint each word belongs to one caller, but here callers ask for the words of others,
// too: a word must not have another value for a second caller.
func valuing[look any](s valuer[look], all []uint64) func() Outcome {
	return func() Outcome {
		l := s.Look()
		word := Choose("takes the word", all...)
		value, ok := s.At(l, word)
		if !ok {
			var verdict words.Verdict
			switch value, verdict = s.Find(word); verdict {
			case words.Lost:
				return Outcome{}
			case words.Exhausted:
				value = over
			}
		}
		return Outcome{First: word<<4 | value, Run: 1}
	}
}

// row checks that each word has one value, and that values rise with the words of a tick. The ghost
// has 4 bits for each of 8 words from the first word on: the value plus 1, or 0.
func row(ghost uint32, e Event) (uint32, string) {
	if e.Run == 0 {
		return ghost, ""
	}
	word, value := e.First>>4, uint32(e.First&15)
	known := func(word uint64) (uint32, bool) {
		v := ghost >> (word % 8 * 4) & 15
		return v - 1, v > 0
	}
	if value != over && value >= 1<<valueBits {
		return ghost, fmt.Sprintf("word %d has the value %d", word, value)
	}
	if value == over {
		value = over - 1 // so that value plus 1 has 4 bits
	}
	if v, ok := known(word); ok && v != value {
		return ghost, fmt.Sprintf("word %d has the values %d and %d", word, v, value)
	}
	for other := word &^ (1<<countBits - 1); other>>countBits == word>>countBits; other++ {
		v, ok := known(other)
		both := v == over-1 && value == over-1
		if ok && (other < word && v >= value || other > word && v <= value) && !both {
			return ghost, fmt.Sprintf("words %d and %d have the values %d and %d", other, word, v, value)
		}
	}
	return ghost | (value+1)<<(word%8*4), ""
}

func stepsModel[look any](s valuer[look], callers, calls int, words ...uint64) *Model {
	return &Model{
		Shared: s, Setup: func() { s.Init(countBits, valueBits, 2, rolling) }, Watch: row,
		Format:   func(w uint64) string { return fmt.Sprintf("value %d of word %d", w&15, w>>4) },
		Programs: []Program{{Name: "value", Actors: callers, Calls: calls, Call: valuing(s, words), Restarts: true}},
	}
}

// Callers ask for words of two blocks of a tick, and of a later tick. The blocks are small
// enough for a block to be filled again while a caller still reads it.
func TestSteps(t *testing.T) {
	holds(t, stepsModel(new(steps.Steps), 2, 2, 4, 5, 6, 8))
}

func TestStepsOfThreeCallers(t *testing.T) {
	services.Full(t)
	holds(t, stepsModel(new(steps.Steps), 3, 1, 4, 5, 6, 8))
}

func TestStepsMutants(t *testing.T) {
	for _, fault := range mutants.Faults {
		t.Run(fault, func(t *testing.T) {
			fails(t, stepsModel(&mutants.Steps{Fault: fault}, 2, 2, 4, 5, 6, 8), "the values")
		})
	}
	t.Run("none", func(t *testing.T) { holds(t, stepsModel(new(mutants.Steps), 2, 2, 4, 5, 6, 8)) })
}

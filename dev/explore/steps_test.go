package explore

import (
	"fmt"
	"testing"

	"github.com/firn-id/firn/internal/engine/steps"
	"github.com/firn-id/firn/internal/engine/words"
	"github.com/firn-id/firn/internal/testing/services"
)

// Steps of 9 bits make blocks of 32 words, each word in a cell of its own. A tick has two blocks.
const (
	stepBits  = 9
	countBits = 6
	valueBits = 7
	over      = 1<<valueBits + 1 // in place of a value: the tick has no value left
)

// The words that callers ask for: the first and the last of a block, the first of the next block, and the
// first of the next tick.
var asked = []uint64{64, 95, 96, 128}

// rolling draws a low start and steps of 1, or a high start and steps of 2. The values of a tick then end
// late or not at all, or with the first block.
func rolling(p []uint64) {
	bits := Choose("draws", 1, 65<<(32-valueBits)|2)
	for i := range p {
		p[i] = bits<<32 | bits
	}
}

// valuing asks for the values of words as a mint does. A caller may look long before it takes its
// word. In a mint each word belongs to one caller, but here callers ask for the words of others,
// too: a word must not have another value for a second caller.
func valuing(s *steps.Steps) func() Outcome {
	return func() Outcome {
		l := s.Look()
		word := Choose("takes the word", asked...)
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
		return Outcome{First: word<<8 | value, Run: 1}
	}
}

// row checks that each word has one value, and that values rise with the words of a tick. The ghost
// has 8 bits for each word: the value plus 1, or 0.
func row(ghost uint32, e Event) (uint32, string) {
	if e.Run == 0 {
		return ghost, ""
	}
	word, value := e.First>>8, e.First&0xff
	if value != over && value >= 1<<valueBits {
		return ghost, fmt.Sprintf("word %d has the value %d", word, value)
	}
	after := ghost
	for i, other := range asked {
		known := uint64(ghost >> (8 * i) & 0xff)
		if other == word {
			after |= uint32(value+1) << (8 * i)
		}
		if known == 0 || other>>countBits != word>>countBits {
			continue
		}
		known--
		rises := other < word && known < value || other > word && known > value
		switch {
		case other == word && known != value:
			return ghost, fmt.Sprintf("word %d has the values %d and %d", word, known, value)
		case other != word && !rises && !(known == over && value == over):
			return ghost, fmt.Sprintf("words %d and %d have the values %d and %d", other, word, known, value)
		}
	}
	return after, ""
}

// stepsModel has six more callers, each of which is held up for good while it fills a block. So two blocks
// are left, and a block may be filled again while a caller still reads it.
func stepsModel(callers, calls int) *Model {
	s := new(steps.Steps)
	setup := func() {
		free := false
		s.Init(countBits, valueBits, stepBits, func(p []uint64) {
			if !free {
				panic("held up")
			}
			rolling(p)
		})
		for range 6 {
			func() {
				defer func() { _ = recover() }()
				s.Find(asked[0])
			}()
		}
		free = true
	}
	return &Model{
		Shared: s, Setup: setup, Watch: row,
		Cells: []string{
			"now", "blocks[0].held", "blocks[0].cells[0]", "blocks[0].cells[31]",
			"blocks[7].held", "blocks[7].cells[0]", "blocks[7].cells[31]",
		},
		Format:   func(w uint64) string { return fmt.Sprintf("value %d of word %d", w&0xff, w>>8) },
		Programs: []Program{{Name: "value", Actors: callers, Calls: calls, Call: valuing(s), Restarts: true}},
	}
}

// Callers ask for words of two blocks of a tick, and of a later tick.
func TestSteps(t *testing.T) { holds(t, stepsModel(2, 2)) }

func TestStepsOfThreeCallers(t *testing.T) {
	services.Full(t)
	holds(t, stepsModel(3, 1))
}

//go:build !race

package scru160_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

func TestAllocations(t *testing.T) {
	generators := map[string]testkit.Generator[scru160.ID]{}
	for name, c := range map[string]scru160.Config{
		"default":       {},
		"microseconds":  {Counter: scru160.CounterMicroseconds},
		"wide":          {ExtraCounterBits: 16},
		"system random": {SystemRandom: true},
	} {
		gen := testkit.Must(scru160.NewGenerator(c))
		generators[name] = gen
	}
	suite.Allocations(t, generators)
}

func TestListAllocations(t *testing.T) { list.Allocations(t) }

//go:build !race

package snowflakesi_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

func TestAllocations(t *testing.T) {
	generators := map[string]testkit.Generator[snowflakesi.ID]{}
	for _, c := range []snowflakesi.Config{{}, {Layout: snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}, Sequence: snowflakesi.SequenceResets}} {
		g := generation(c)
		gen := testkit.Must(g.New(testkit.Setup{}))
		generators[g.Name] = gen
	}
	suite.Allocations(t, generators)
}

func TestListAllocations(t *testing.T) { list.Allocations(t) }

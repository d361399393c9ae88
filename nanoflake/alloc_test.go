//go:build !race

package nanoflake_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

func TestAllocations(t *testing.T) {
	generators := map[string]testkit.Generator[nanoflake.ID]{}
	for _, g := range generations[:2] {
		gen := testkit.Must(g.New(testkit.Setup{}))
		generators[g.Name] = gen
	}
	suite.Allocations(t, generators)
}

func TestListAllocations(t *testing.T) { list.Allocations(t) }

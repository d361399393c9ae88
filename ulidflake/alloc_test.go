//go:build !race

package ulidflake_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

func TestAllocations(t *testing.T) {
	one := testkit.Must(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 1}))
	drawn := testkit.Must(ulidflake.NewGenerator(ulidflake.Config{}))
	scaled := testkit.Must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{IncrementBits: 3}))
	suite.Allocations(t, map[string]testkit.Generator[ulidflake.ID]{"by 1": one, "by up to 255": drawn})
	scalable.Allocations(t, map[string]testkit.Generator[ulidflake.ScalableID]{"scalable": scaled})
}

func TestListAllocations(t *testing.T) {
	list.Allocations(t)
	listScalable.Allocations(t)
}

//go:build !race

package ulidflake_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

func TestAllocations(t *testing.T) {
	one := testkit.Call(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 1})).Value(t)
	drawn := testkit.Call(ulidflake.NewGenerator(ulidflake.Config{})).Value(t)
	scaled := testkit.Call(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{IncrementBits: 3})).Value(t)
	suite.Allocations(t, map[string]testkit.Generator[ulidflake.ID]{"by 1": one, "by up to 255": drawn})
	scalable.Allocations(t, map[string]testkit.Generator[ulidflake.ScalableID]{"scalable": scaled})
}

func TestListAllocations(t *testing.T) {
	list.Allocations(t)
	listScalable.Allocations(t)
}

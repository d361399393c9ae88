package drivertest

import (
	"testing"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

func memory(*testing.T) func() driver.Store {
	s := memlease.New()
	return func() driver.Store { return s.Open() }
}

func TestMemory(t *testing.T) { Run(t, memory) }

func TestMemoryLeases(t *testing.T) {
	t.Parallel()
	RunLeases(t, memory)
}

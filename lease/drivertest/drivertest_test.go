package drivertest

import (
	"os"
	"testing"

	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

func TestMain(m *testing.M) { os.Exit(undo.Main(m)) }

func memory(*testing.T) func() driver.Store {
	s := memlease.New()
	return func() driver.Store { return s.Open() }
}

func TestMemory(t *testing.T) { Run(t, memory) }

func TestMemoryLeases(t *testing.T) {
	t.Parallel()
	RunLeases(t, memory)
}

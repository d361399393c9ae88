package drivertest

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

func files(t *testing.T) func() driver.Store {
	dir := t.TempDir()
	return func() driver.Store {
		return testkit.Must(filelease.Open(dir))
	}
}

func TestFiles(t *testing.T) { Run(t, files) }

func TestFilesLeases(t *testing.T) {
	t.Parallel()
	RunLeases(t, files)
}

package main

import (
	"os"
	"testing"

	"github.com/firn-id/firn/dev/release/changelog"
)

// TestChangelog finds faults in the form of the project's own change log.
func TestChangelog(t *testing.T) {
	source, err := os.ReadFile("../../" + changelog.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range changelog.Parse(source).Problems() {
		t.Error(problem)
	}
}

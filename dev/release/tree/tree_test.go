package tree_test

import (
	"testing"

	"github.com/firn-id/firn/dev/release/tree"
)

// TestTree finds problems of the project's own tree.
func TestTree(t *testing.T) {
	project, err := tree.Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range project.Check() {
		t.Error(problem)
	}
}

package main

import (
	"bytes"
	"os"
	"testing"
)

// The table and the charts of the documents are those of the stored measurements.
func TestStored(t *testing.T) {
	r, err := read("../results/bench.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range r.files() {
		if was, err := os.ReadFile("../results/" + name); err != nil || !bytes.Equal(was, content) {
			t.Errorf("%s is not that of the measurements, %v: go run ./table results", name, err)
		}
	}
}

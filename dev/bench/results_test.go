package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The charts of the documents are the charts of the stored measurements.
func TestStoredCharts(t *testing.T) {
	stored := filepath.Join("results", rawFile)
	file, err := os.Open(stored)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := parse(file, stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range charts(r) {
		drawn, err := c.Draw()
		if err != nil {
			t.Fatal(err)
		}
		if was, err := os.ReadFile(filepath.Join("results", c.File+".svg")); err != nil || !bytes.Equal(was, drawn) {
			t.Errorf("%s is not the chart of the measurements, %v: go run -C dev ./bench -from bench/results/bench.txt", c.File, err)
		}
	}
}

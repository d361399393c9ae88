package main

import (
	"bytes"
	"slices"
	"testing"

	"github.com/firn-id/firn/sno"
)

// TestPlan: the repeated lines, and no others, have an ID of a line before. The shuffled lines are the same
// IDs in another order.
func TestPlan(t *testing.T) {
	for _, n := range []int64{100, 1001, 70_000} {
		var all [2][]sno.ID
		for i, shuffled := range []bool{false, true} {
			p := plan{n, shuffled}
			var out bytes.Buffer
			if err := p.write(&out); err != nil {
				t.Fatal(err)
			}
			seen := make(map[sno.ID]bool)
			var repeated []int64
			for line := range bytes.Lines(out.Bytes()) {
				id, err := sno.Parse(string(bytes.TrimSpace(line)))
				if err != nil {
					t.Fatal(err)
				}
				all[i] = append(all[i], id)
				if seen[id] {
					repeated = append(repeated, int64(len(all[i])))
				}
				seen[id] = true
			}
			if !slices.Equal(repeated, p.planted()) || int64(len(all[i])) != n {
				t.Errorf("%d lines, of which %v repeat an ID; want %d, %v", len(all[i]), repeated, n, p.planted())
			}
		}
		if slices.Equal(all[0], all[1]) {
			t.Error("the order is not shuffled")
		}
	}
}

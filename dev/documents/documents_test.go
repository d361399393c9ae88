package documents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Each block of each page has a treatment. The log has the numbers.
func TestBlocks(t *testing.T) {
	counts, reasons, used := map[treatment]int{}, map[string]int{}, map[int]bool{}
	all := 0
	for _, page := range pages(t) {
		for _, b := range page {
			all++
			how, err := treat(b)
			if err != nil {
				t.Error(err)
			}
			counts[how]++
			switch how {
			case marked:
				reasons[b.mark]++
			case other:
				i, _ := anotherTest(b)
				used[i] = true
			case data:
				if err := readYAML(b.text); err != nil {
					t.Errorf("%s: %v", b, err)
				}
			}
		}
	}
	for i, e := range elsewhere {
		if !used[i] {
			t.Errorf("elsewhere: no block for %v: remove the line", e)
		}
		if err := exists(e.test); err != nil {
			t.Errorf("elsewhere: %v", err)
		}
	}
	t.Logf("%d blocks\n%s", all, table(counts))
	t.Logf("the marks\n%s", table(reasons))
}

func table[K ~string](counts map[K]int) string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&out, "%4d %s\n", counts[k], k)
	}
	return out.String()
}

// readYAML reads all documents of a file. A name must not come twice.
func readYAML(text string) error {
	for _, document := range strings.Split(text, "\n---\n") {
		var into map[string]any
		if err := yaml.UnmarshalWithOptions([]byte(document), &into, yaml.Strict()); err != nil {
			return err
		}
		if len(into) == 0 {
			return fmt.Errorf("an empty document: %q", document)
		}
	}
	return nil
}

package documents

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Each block of each page has a treatment.
func TestBlocks(t *testing.T) {
	used := map[int]bool{}
	for _, page := range pages(t) {
		for _, b := range page {
			how, err := treat(b)
			if err != nil {
				t.Error(err)
			}
			switch how {
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

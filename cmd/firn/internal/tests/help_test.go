package tests

import "testing"

// TestHelp: each command has a help text and a summary.
func TestHelp(t *testing.T) {
	w := newTree(t)
	for path, cmd := range w.all() {
		if help, err := w.run(words(path, "--help")...); err != nil || help == "" || cmd.Short == "" {
			t.Errorf("firn %s --help: %v: %q", path, err, help)
		}
	}
}

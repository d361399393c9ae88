package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestHelp: each command has a summary of one line, and its help ends with commands and pages to read, which exist.
func TestHelp(t *testing.T) {
	w := newTree(t)
	all := w.all()
	for path, cmd := range all {
		help, err := w.run(words(path, "--help")...)
		if err != nil || !strings.Contains(help, strings.TrimSuffix(cmd.Short, ".")) && !strings.HasPrefix(path, "completion") {
			t.Errorf("firn %s --help: %v: %q", path, err, help)
		}
		if strings.HasPrefix(path, "completion") || path == "version" {
			continue
		}
		_, see, found := strings.Cut(help, "\nSee also:\n")
		if !found {
			t.Errorf("firn %s --help: nothing to read", path)
		}
		for _, name := range strings.Split(strings.TrimSpace(see), "\n") {
			name = strings.TrimSpace(name)
			if page, ok := strings.CutPrefix(name, "https://github.com/firn-id/firn/blob/main/docs/"); ok {
				hasPage(t, page)
			} else if other := strings.TrimSuffix(strings.TrimPrefix(name, "firn "), " --help"); name != "https://github.com/firn-id/firn" && all[other] == nil {
				t.Errorf("firn %s --help: no %s", path, name)
			}
		}
	}
}

// hasPage demands a page of docs, and its heading.
func hasPage(t *testing.T, page string) {
	t.Helper()
	name, anchor, _ := strings.Cut(page, "#")
	text, err := os.ReadFile(filepath.Join("../../../../docs", name))
	if err != nil {
		t.Error(err)
	}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllSubmatch(text, -1) {
		if strings.ReplaceAll(strings.ToLower(string(heading[1])), " ", "-") == anchor {
			return
		}
	}
	if anchor != "" {
		t.Errorf("docs/%s has no heading for #%s", name, anchor)
	}
}

package databases

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// pages is the folder of the documents.
const pages = "../../../docs/databases"

// A block is the text between two lines of backquotes.
type block struct {
	line     int
	language string
	lines    []string
}

func blocks(document string) (all []block) {
	open := false
	for i, line := range strings.Split(document, "\n") {
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			all, open = append(all, block{line: i + 1, language: language}), true
		case fence:
			open = false
		case open:
			last := &all[len(all)-1]
			last.lines = append(last.lines, line)
		}
	}
	return all
}

// within reports whether a file has the lines of a block, one after the other. The block can be
// without the tabs that all its lines have in the file.
func (b block) within(file string) bool {
	for tabs := range 4 {
		text := "\n"
		for _, line := range b.lines {
			if line != "" {
				line = strings.Repeat("\t", tabs) + line
			}
			text += line + "\n"
		}
		if len(b.lines) > 0 && strings.Contains("\n"+file, text) {
			return true
		}
	}
	return false
}

func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	testkit.OK(t, err)
	return files
}

// Each page has the code of its folder, and the index has each page. Commands and output do not count.
func TestDocuments(t *testing.T) {
	index := testkit.Must(os.ReadFile(filepath.Join(pages, "README.md")))
	found := map[string]bool{}
	for path, text := range folder(t, pages) {
		base := filepath.Base(path)
		if base == "README.md" {
			continue
		}
		name := strings.TrimSuffix(base, ".md")
		found[name] = true
		files := folder(t, name)
		maps.Copy(files, folder(t, filepath.Join("internal", "generator")))
		code := 0
		for _, b := range blocks(text) {
			if b.language == "console" {
				continue
			}
			code++
			if !slices.ContainsFunc(slices.Collect(maps.Values(files)), b.within) {
				t.Errorf("docs/databases/%s:%d: no file has this %s code: copy the code from the folder dev/examples/databases/%s", base, b.line, b.language, name)
			}
		}
		if code == 0 {
			t.Errorf("docs/databases/%s has no code", base)
		}
		if !strings.Contains(string(index), "]("+base+")") {
			t.Errorf("docs/databases/README.md does not name %s", base)
		}
	}
	entries := testkit.Must(os.ReadDir("."))
	for _, e := range entries {
		if e.IsDir() && e.Name() != "internal" && !found[e.Name()] {
			t.Errorf("the folder %s has no page in docs/databases", e.Name())
		}
	}
}

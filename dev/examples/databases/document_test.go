package databases

import (
	"fmt"
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

// brackets are the languages whose blocks close all brackets that they open.
var brackets = []string{"go", "protobuf", "graphql", "sql"}

// whole reports whether a block closes all brackets that it opens.
func (b block) whole() bool {
	text := strings.Join(b.lines, "\n")
	for _, pair := range []string{"{}", "()"} {
		if strings.Count(text, pair[:1]) != strings.Count(text, pair[1:]) {
			return false
		}
	}
	return true
}

// faults returns the code of a document that is missing from the files, or stops inside of a declaration.
// Commands and output do not count.
func faults(document string, files map[string]string) (found []string) {
	code := 0
	for _, b := range blocks(document) {
		if b.language == "console" {
			continue
		}
		code++
		if !slices.ContainsFunc(slices.Collect(maps.Values(files)), b.within) {
			found = append(found, fmt.Sprintf("line %d: no file has this %s code", b.line, b.language))
		}
		if slices.Contains(brackets, b.language) && !b.whole() {
			found = append(found, fmt.Sprintf("line %d: this %s code stops inside of a declaration", b.line, b.language))
		}
	}
	if code == 0 {
		found = append(found, "no code")
	}
	return found
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

// links are what a page has before its first section: how programs get generators, and what the database does
// with IDs in SQL.
var links = map[string][]string{
	"postgresql": {"../sql-functions.md#postgresql", "../sql-generator.md"},
	"mysql":      {"../sql-functions.md#mariadb-and-mysql"},
	"sqlite":     {"../sql-functions.md#sqlite"},
	"gorm":       {"../sql-functions.md", "../sql-generator.md"},
	"bun":        {"../sql-functions.md", "../sql-generator.md"},
	"ent":        {"../sql-functions.md", "../sql-generator.md"},
	"sqlc":       {"../sql-functions.md", "../sql-generator.md"},
}

// beginning returns what is missing from the beginning of a page.
func beginning(name, document string) (missing []string) {
	first, _, _ := strings.Cut(document, "\n## ")
	for _, want := range append([]string{"../deploy.md"}, links[name]...) {
		if !strings.Contains(first, "]("+want+")") {
			missing = append(missing, "a link to "+want)
		}
	}
	if !strings.Contains(first, "`gen`") || !strings.Contains(first, "a lease") {
		missing = append(missing, "how a program makes gen, with a lease")
	}
	return missing
}

// Each page begins with the generator, and has the code of its folder. The index has each page.
func TestDocuments(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(pages, "README.md"))
	testkit.OK(t, err)
	found := map[string]bool{}
	for path, text := range folder(t, pages) {
		base := filepath.Base(path)
		if base == "README.md" {
			continue
		}
		name := strings.TrimSuffix(base, ".md")
		found[name] = true
		for _, want := range beginning(name, text) {
			t.Errorf("docs/databases/%s begins without %s", base, want)
		}
		files := folder(t, name)
		maps.Copy(files, folder(t, filepath.Join("internal", "generator")))
		for _, fault := range faults(text, files) {
			t.Errorf("docs/databases/%s: %s: copy the code from the folder dev/examples/databases/%s", base, fault, name)
		}
		if !strings.Contains(string(index), "]("+base+")") {
			t.Errorf("docs/databases/README.md does not name %s", base)
		}
	}
	entries, err := os.ReadDir(".")
	testkit.OK(t, err)
	for _, e := range entries {
		if e.IsDir() && e.Name() != "internal" && !found[e.Name()] {
			t.Errorf("the folder %s has no page in docs/databases", e.Name())
		}
	}
}

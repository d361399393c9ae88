package testkit

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const top = "../../.."

var (
	link = regexp.MustCompile("\\]\\(([^)#\\s`]+)(#[^)\\s]*)?\\)|(?:src|srcset)=\"([^\"]+)\"")
	// named is a path in backquotes: with a slash or the end of a Go file. A path has no space.
	named = regexp.MustCompile("`((?:[a-z0-9_.*-]+/)+[a-z0-9_.*-]*|[a-z0-9_*]+\\.go)`")
	code  = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

// Links of documents lead to files, and ARCHITECTURE.md names files and folders that are there.
func TestDocuments(t *testing.T) {
	documents := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != top):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		documents++
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			to := m[1] + m[3]
			if strings.Contains(to, ":") {
				continue // of the network
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(to))); err != nil {
				t.Errorf("%s has a link to %s, which is not there", path, to)
			}
		}
		return nil
	})
	if err != nil || documents < 30 {
		t.Fatalf("%d documents: %v", documents, err)
	}
	text, err := os.ReadFile(filepath.Join(top, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	paths := named.FindAllStringSubmatch(string(text), -1)
	if len(paths) < 40 {
		t.Errorf("ARCHITECTURE.md names %d paths", len(paths))
	}
	for _, m := range paths {
		path := m[1]
		switch {
		case path == "sync/atomic", path == "math/big":
			continue
		case !strings.Contains(path, "/"):
			path = "nanoflake/" + path // of each format
		}
		if found, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(strings.TrimSuffix(path, "/")))); err != nil || len(found) == 0 {
			t.Errorf("ARCHITECTURE.md names %s, which is not there", path)
		}
	}
}

package monitoring

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../../../"

// source returns the text of the files of a folder and below with one of the endings. Texts that are added are one text.
func source(t *testing.T, dir string, endings ...string) string {
	var all strings.Builder
	err := filepath.WalkDir(root+dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, ending := range endings {
			if strings.HasSuffix(path, ending) {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				all.Write(text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	joined := regexp.MustCompile(`" \+\s*"`).ReplaceAllString(all.String(), "")
	return strings.ReplaceAll(joined, `\"`, `"`)
}

func runbook(t *testing.T) string {
	text, err := os.ReadFile(root + "docs/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// unlisted are the errors that need no operator.
var unlisted = map[string]string{
	"driver.ErrNotFound": "between stores and leases", "driver.ErrConflict": "between stores and leases", "driver.ErrKey": "between stores and leases",
	"driver.ErrDamaged": "lease.ErrDamaged", "driver.ErrVersion": "lease.ErrVersion",
	"iderr.ErrLength": "of texts that are no IDs", "iderr.ErrCharacter": "of texts that are no IDs", "iderr.ErrRange": "of texts that are no IDs",
	"iderr.ErrType": "of values that are no IDs", "iderr.ErrNoID": "of values that are no IDs",
}

// TestRunbookErrors looks for each error of leases, stores and generators in docs/runbook.md.
func TestRunbookErrors(t *testing.T) {
	text, seen := runbook(t), 0
	declared := regexp.MustCompile(`(?m)^(?:\t|var )(Err[A-Z]\w+)(?: error)? += `)
	for _, c := range []struct{ dir, name string }{{"lease", "lease"}, {"lease/driver", "driver"}, {"lease/filelease", "filelease"}, {"iderr", "iderr"}} {
		files, err := filepath.Glob(root + c.dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			code, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declared.FindAllStringSubmatch(string(code), -1) {
				seen++
				if name := c.name + "." + m[1]; unlisted[name] == "" && !strings.Contains(text, "`"+name+"`") {
					t.Errorf("the runbook does not have %s", name)
				}
			}
		}
	}
	if seen < 35 {
		t.Errorf("%d errors", seen)
	}
	states := 0
	for _, state := range regexp.MustCompile(`NF\d+`).FindAllString(source(t, "cmd/firn/internal/sqlgen", ".sql"), -1) {
		if state == "NF000" {
			continue // does not leave the function
		}
		states++
		if !strings.Contains(text, "| `"+state+"` |") {
			t.Errorf("the runbook does not have %s", state)
		}
	}
	if states < 4 {
		t.Errorf("%d states", states)
	}
}

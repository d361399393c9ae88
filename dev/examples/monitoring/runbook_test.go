package monitoring

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

const root = "../../../"

// unlisted are the errors that need no operator.
var unlisted = map[string]string{
	"driver.ErrNotFound": "between stores and leases", "driver.ErrConflict": "between stores and leases", "driver.ErrKey": "between stores and leases",
	"driver.ErrDamaged": "lease.ErrDamaged", "driver.ErrVersion": "lease.ErrVersion",
	"iderr.ErrLength": "of texts that are no IDs", "iderr.ErrCharacter": "of texts that are no IDs", "iderr.ErrRange": "of texts that are no IDs",
	"iderr.ErrType": "of values that are no IDs", "iderr.ErrNoID": "of values that are no IDs",
}

// TestRunbookErrors looks for each error of leases, stores and generators in docs/runbook.md.
func TestRunbookErrors(t *testing.T) {
	read := func(path string) string {
		text := testkit.Must(os.ReadFile(path))
		return string(text)
	}
	text, seen := read(root+"docs/runbook.md"), 0
	declared := regexp.MustCompile(`(?m)^(?:\t|var )(Err[A-Z]\w+)(?: error)? += `)
	for _, c := range []struct{ dir, name string }{{"lease", "lease"}, {"lease/driver", "driver"}, {"lease/filelease", "filelease"}, {"iderr", "iderr"}} {
		files := testkit.Must(filepath.Glob(root + c.dir + "/*.go"))
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			for _, m := range declared.FindAllStringSubmatch(read(path), -1) {
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
	for _, state := range regexp.MustCompile(`NF\d+`).FindAllString(read(root+"cmd/firn/internal/sqlgen/up.sql"), -1) {
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

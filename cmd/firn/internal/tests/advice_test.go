package tests

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/sources"
)

// unsafeAdvice is advice that makes IDs twice beside a running process, where a record is missing or damaged,
// or a store cannot be used. No text may give the advice.
var unsafeAdvice = []*regexp.Regexp{
	regexp.MustCompile(`\b(an)?other (pool|name|prefix|bucket|table|directory|folder|namespace|store|one)s?\b`), // begins again elsewhere
	regexp.MustCompile(`\bnew (pool|prefix|bucket|table|directory|folder|namespace)s?\b`),
	regexp.MustCompile(`\bpools? of (a|an)?\s*(new|other|another|more)\b`),
	regexp.MustCompile(`--no-state|needs none`),
	regexp.MustCompile(`\b(delete|remove|edit|repair) (the|it|its|single|a|that)\b`), // a worker without its record is handed out again
	regexp.MustCompile(`\bput back a copy\b`),
	regexp.MustCompile(`\brm -r|\bDELETE FROM\b`),
}

// allowedAdvice are texts with words of unsafe advice, each with the reason why the text is safe.
var allowedAdvice = map[string]string{
	// Move puts "stop all processes … and rescue its pools there" around them.
	"in another one":      "an argument of advice.Move",
	"in another table":    "an argument of advice.Move",
	"in another bucket":   "an argument of advice.Move",
	"with another prefix": "an argument of advice.Move",

	// Facts.
	"replaced by another directory while": "", "has made another one": "", "is a mirror of another one": "", "it is another pool's": "",
	"no other one says what it was for": "", "Pools of other names": "", "with another pool on this machine": "", "or with another pool": "",
	"another pool of this machine uses the worker": "", "in use by another store on this machine": "", "is a copy of another": "",
	"another store of this machine uses the same workers": "", "IDs can be equal to IDs of another store": "", "other stores of the machine": "",
	"it was made as another directory": "", "the first change of an entry, and no other one": "",

	// Warnings.
	"Do not delete or change a row by hand": "", "Do not delete a pool": "",
	"Do not repair, move or delete single": "",

	// Not of a store's entries.
	"name the bucket that it mirrors": "", "raft remove-peer": "", "remove it, if it is gone": "", "or remove it: etcdctl member remove": "",

	// Descriptions of a flag. No error leads there.
	"--no-state goes without the pool": "", "firn new nanoflake --worker 7 --no-state": "", "--no-state needs --worker": "",
	"as in: firn new %s --no-state": "", "cannot be used with --no-state": "",

	"ask for another one, or for none": "a worker of the same pool",

	" by hand (firn new --worker N --no-state)": "where there is no pool, since the default directory was refused",

	"use another directory, which no earlier version has used": "where no released version has made the directory",
}

// TestAdvice looks for unsafe advice in all texts of pools, stores and the command line, and in the steps of the
// documentation.
func TestAdvice(t *testing.T) {
	used := make(map[string]bool)
	seen, rescues := 0, 0
	judge := func(where, text string) {
		seen++
		if strings.Contains(text, "lease.Rescue") || strings.Contains(text, "firn pool rescue") {
			rescues++
		}
		for part := range allowedAdvice {
			if strings.Contains(text, part) {
				used[part] = true
				text = strings.ReplaceAll(text, part, "")
			}
		}
		for _, unsafe := range unsafeAdvice {
			if found := unsafe.FindString(text); found != "" {
				t.Errorf("%s: %q in: %.300s", where, found, text)
			}
		}
	}
	for _, dir := range []string{"../../../../lease", "../.."} {
		for _, s := range sources.Texts(t, dir, "drivertest") {
			judge(s.Where, strings.ReplaceAll(s.Text, "%v", " ")) // a word ends where another part of a sum begins
		}
	}
	if seen < 1000 || rescues < 15 {
		t.Errorf("of %d texts %d say to rescue: they were not found", seen, rescues)
	}
	// The tables of errors, and what to do.
	for _, c := range []struct{ path, from, to string }{
		{"../../../../docs/leases.md", "## Errors, and what to do\n", "\n## "},
		{"../../../../docs/stores.md", "## Recovery\n", "\n## "},
		{"../../../../docs/stores.md", "## What happens when the store fails\n", "\n## "},
	} {
		content, err := os.ReadFile(c.path)
		check(t, err)
		_, part, found := strings.Cut(string(content), c.from)
		part, _, _ = strings.Cut(part, c.to)
		if !found || !strings.Contains(part, "rescue") {
			t.Errorf("%s has no part %s", c.path, c.from)
		}
		for line := range strings.Lines(part) {
			judge(c.path, line)
		}
	}
	for part := range allowedAdvice {
		if !used[part] {
			t.Errorf("no text has %q any more", part)
		}
	}
	// The check sees the advice of former errors.
	for _, old := range []string{
		"restore the whole pool from a backup and rescue it, or create one of another name; do not repair or delete single records",
		"firn pool create --name makes a new pool, and firn new --pool uses it", "put back a copy that is known to be the latest, or use a new pool",
		"--state names another directory; firn new --worker N --no-state needs none", "use the settings that it was created with, or another pool",
		"stop all that use its pools, and create pools of other names, or in another bucket, before they go on",
		"there are workers but no pool, whose record is gone: put that back, or make a pool of another name",
	} {
		caught := false
		for _, unsafe := range unsafeAdvice {
			caught = caught || unsafe.MatchString(old)
		}
		if !caught {
			t.Errorf("it does not see that this is unsafe: %s", old)
		}
	}
}

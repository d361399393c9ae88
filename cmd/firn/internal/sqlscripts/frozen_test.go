package sqlscripts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/testing/testkit"
)

var update = flag.Bool("update", false, "write the scripts of this version to testdata")

// keysOf returns all formats with their default settings.
func keysOf(t testing.TB) []key {
	t.Helper()
	o := newOptions(nil, postgres)
	o.command(new(cobra.Command))
	all, err := o.keys(nil)
	testkit.OK(t, err)
	return all
}

// scriptOf returns the script of some formats for a database.
func scriptOf(t testing.TB, d database, down bool, keys ...key) string {
	t.Helper()
	text, err := script{Keys: keys, Column: "id"}.text(d, down)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestFrozen: the scripts of a version do not change. Databases have the functions of the version, and
// indexes hold results. After a release of the version, a change needs another Version and another
// folder of testdata. No version changes the results of a function.
func TestFrozen(t *testing.T) {
	all := keysOf(t)
	lite := scriptOf(t, sqlite, false, all...)
	for _, k := range all {
		text, err := script{[]key{k}, "orders", "id"}.text(sqlite, false)
		testkit.OK(t, err)
		lite += text
	}
	for name, text := range map[string]string{
		"postgres.sql": scriptOf(t, postgres, false, all...),
		"mysql.sql":    scriptOf(t, mysql, false, all...),
		"sqlite.sql":   lite,
	} {
		file := filepath.Join("testdata", fmt.Sprintf("v%d", Version), name)
		if *update {
			testkit.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
			testkit.OK(t, os.WriteFile(file, []byte(text), 0o644))
		}
		frozen, err := os.ReadFile(file)
		testkit.OK(t, err)
		if string(frozen) != text {
			t.Errorf("%s is not the script of version %d: if the version is released, the change needs another version", file, Version)
		}
	}
}

// TestText: scripts are ASCII, so databases of every encoding read them, and plain scripts have no
// words of a client.
func TestText(t *testing.T) {
	all := keysOf(t)
	if len(all) != len(formats.Names()) {
		t.Fatalf("%d formats", len(all))
	}
	for name, text := range map[string]string{
		"postgres": scriptOf(t, postgres, false, all...) + scriptOf(t, postgres, true, all...),
		"mysql":    scriptOf(t, mysql, false, all...) + scriptOf(t, mysql, true, all...),
		"plain":    plain.Replace(scriptOf(t, mysql, false, all...)),
	} {
		if strings.ContainsFunc(text, func(r rune) bool { return r > '~' || r < ' ' && r != '\n' }) {
			t.Errorf("%s: not plain ASCII", name)
		}
		if name == "plain" && strings.Contains(text, "DELIMITER") || name == "postgres" && strings.Contains(text, `\`) {
			t.Errorf("%s has words of a client", name)
		}
	}
}

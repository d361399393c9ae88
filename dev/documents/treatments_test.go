package documents

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A treatment is what happens to a block.
type treatment string

const (
	marked    treatment = "not run, with a mark"
	other     treatment = "run by another test"
	console   treatment = "run here: console"
	session   treatment = "run here: other languages" // by a function of the page's preparation
	ofRoot    treatment = "not run: commands and files of root"
	goProgram treatment = "compiled and vetted: programs of Go"
	goPiece   treatment = "compiled: pieces of Go"
	data      treatment = "read: YAML"
	shown     treatment = "no code: figures and output"
)

// elsewhere has the blocks that other tests run: pages, a language, a text of the block, and the test. A test is a folder and
// a function of it, a step of .ci/run, or a file and a text of it.
var elsewhere = []struct{ pages, language, text, test string }{
	{"docs/databases/*.md", "*", "", "dev/examples/databases TestDocuments"},
	{"docs/monitoring.md", "go", "", "dev/examples/monitoring TestDocument"},
	{"docs/monitoring.md", "yaml", "", "dev/examples/monitoring TestRules"},
	{"docs/commands.md", "", "", "cmd/firn/internal/tests TestExamples"},
	{"docs/server.md", "sh", "", "server/internal/tests/docs TestQuickStart"},
	{"docs/server.md", "python", "", "server/internal/tests/docs TestQuickStart"},
	{"docs/server.md", "js", "", "server/internal/tests/docs TestQuickStart"},
	{"docs/server.md", "java", "", "server/internal/tests/docs TestQuickStart"},
	{"docs/server.md", "console", "$ firn serve --state ids\n", "server/internal/tests/docs TestQuickStart"},
	{"docs/server.md", "toml", "[generators.order]", "server/internal/tests/docs TestConfiguration"},
	{"docs/server.md", "toml", "[tokens.shop]", "server/internal/tests/docs TestTokens"},
	{"docs/server.md", "yaml", "", "dev/examples/monitoring TestServerRules"},
	{"docs/server-configuration.md", "toml", "[tokens.", "server/internal/access TestDocument"},
	{"docs/server-configuration.md", "toml", "", "server TestDocument"},
	{"docs/deploy.md", "yaml", "\nkind: ", "dev/servers TestKubernetes"},
	{"docs/stores.md", "console", "$ firn pool permissions --store redis", "cmd/firn/internal/tests TestDocumentOfRights"},
	{"docs/sql-generator.md", "ini", "# /etc/systemd/system/", "cmd/firn/internal/tests TestUnits"},
	{"docs/sql-generator.md", "console", "$ firn ", "cmd/firn/internal/tests/sqlgen TestPage"},
	{"docs/sql-generator.md", "sql", "TRUNCATE", "cmd/firn/internal/tests/sqlgen TestReset"},
	{"docs/sql-generator.md", "sql", "", "cmd/firn/internal/tests/sqlgen TestPage"},
	{"README.md", "console", "$ go test work\n", ".ci/run tests"},
	{"README.md", "go", "package main", "examples/hello TestReadme"},
	{"CONTRIBUTING.md", "console", "$ .ci/run full", ".ci/run tests-all"},
	{"docs/model/README.md", "console", "", ".ci/run model"},
	{"docs/sql-functions.md", "console", "$ go test -run TestRange", ".ci/run tests-all"},
	{"docs/stores.md", "console", "$ FIRN_REAL_SERVERS=1", ".ci/run servers"},
	{"js/README.md", "console", "$ npm ci", ".ci/run js"},
	{"js/README.md", "ts", "", `js/test/package.test.ts compiles the examples of README.md`},
}

// anotherTest returns the test that runs a block, and its index in elsewhere.
func anotherTest(b *block) (int, string) {
	for i, e := range elsewhere {
		page, err := path.Match(e.pages, b.page)
		if err != nil {
			panic(err)
		}
		if page && (e.language == "*" && b.language != "console" || e.language == b.language) && strings.Contains(b.text, e.text) {
			return i, e.test
		}
	}
	return -1, ""
}

// exists returns an error if a test of elsewhere is not there.
func exists(test string) error {
	where, what, _ := strings.Cut(test, " ")
	files, text := []string{filepath.Join(top, where)}, what
	switch {
	case where == ".ci/run":
		text = "\nstep_" + what + "() "
	case strings.HasPrefix(what, "Test"):
		text = "\nfunc " + what + "(t *testing.T)"
		files, _ = filepath.Glob(filepath.Join(top, where, "*_test.go"))
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(source), text) {
			return nil
		}
	}
	return fmt.Errorf("no %s in %s", what, where)
}

// treat returns what happens to a block. The error says why nothing does.
func treat(b *block) (treatment, error) {
	_, test := anotherTest(b)
	switch {
	case b.mark != "" && test != "":
		return "", fmt.Errorf("%s: %s runs the block: remove the mark", b, test)
	case b.mark != "" && runs(b):
		return "", fmt.Errorf("%s: the block would run: remove the mark", b)
	case b.mark != "":
		return marked, nil
	case test != "":
		return other, nil
	}
	if forRoot(b) {
		return ofRoot, nil
	}
	if of, err := os.ReadFile(prepared(b.page, ".sh")); err == nil && strings.Contains(string(of), "\nblock_"+b.language+"() ") {
		return session, nil
	}
	switch b.language {
	case "console":
		if _, err := b.commands(); err != nil {
			return "", err
		}
		return console, nil
	case "go":
		if strings.HasPrefix(b.text, "package ") || strings.Contains(b.text, "\npackage ") {
			return goProgram, nil
		}
		return goPiece, nil
	case "yaml":
		return data, nil
	case "":
		if strings.HasPrefix(b.text, "$ ") || strings.Contains(b.text, "\n$ ") {
			return "", fmt.Errorf("%s: a block with commands has no language: write console after the fence", b)
		}
		return shown, nil
	}
	return "", fmt.Errorf("%s: nothing runs a block of %s: name the test in elsewhere, write block_%[2]s in the page's preparation, or mark the block",
		b, b.language)
}

// runs reports whether a block with a mark would run on each machine: all its commands are of firn, and need no server, no
// other program and no rights of root.
func runs(b *block) bool {
	commands, err := b.commands()
	if b.language != "console" || err != nil {
		return b.language == "yaml"
	}
	for _, c := range commands {
		if !strings.HasPrefix(c.text, "firn ") || strings.HasPrefix(c.text, "firn serve") || strings.ContainsAny(c.text, "|$") || strings.Contains(c.text, "://") {
			return false
		}
	}
	return true
}

// forRoot reports whether a block of the page on services has a command of root, or is a file in /etc.
func forRoot(b *block) bool {
	switch {
	case b.page != "docs/deploy.md":
		return false
	case b.language == "console":
		return strings.HasPrefix(b.text, "# ") || strings.Contains(b.text, "\n# ")
	}
	return strings.HasPrefix(b.text, "# /etc/")
}

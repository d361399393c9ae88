package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/nanoflake"
)

// TestHello runs the program twice, as a reader of README does. The second process takes its lease
// from the files of the first.
func TestHello(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the go command")
	}
	dir := filepath.Join(t.TempDir(), "ids")
	var last nanoflake.ID
	for range 2 {
		var stderr bytes.Buffer
		run := exec.CommandContext(t.Context(), "go", "run", ".", dir)
		run.Stderr = &stderr
		out, err := run.Output()
		if err != nil {
			t.Fatalf("go run: %v\n%s", err, &stderr)
		}
		line := string(out)
		text, _, _ := strings.Cut(line, " ")
		id, err := nanoflake.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if at := id.Time(nanoflake.DefaultEpoch()).String(); !strings.HasSuffix(line, " at "+at+"\n") {
			t.Errorf("printed %q, without the time %s", line, at)
		}
		if id <= last {
			t.Errorf("made %v after %v", id, last)
		}
		last = id
	}
}

// README prints the program as it is.
func TestReadme(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, ok := strings.Cut(string(source), "\npackage main\n")
	if !ok || strings.Count(string(readme), "```go\n") != 1 || !strings.Contains(string(readme), "```go\npackage main\n"+program+"```\n") {
		t.Error("README.md does not print main.go, or prints another program too: copy main.go from its package clause on into README.md")
	}
}

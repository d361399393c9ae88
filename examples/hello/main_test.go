package main

import (
	"bytes"
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

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The search is about word.go, steps.go and count.go only if the generated files are current.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	files, err := generateFrom("../../../internal/engine")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is not what gen makes now: run go generate in dev/explore", name)
		}
	}
	for _, folder := range []string{"simwords", "simsteps", "simtally"} {
		err := fs.WalkDir(os.DirFS(".."), folder, func(path string, d fs.DirEntry, err error) error {
			if _, ok := files[path]; !ok && err == nil && !d.IsDir() {
				t.Errorf("%s is not made by gen", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// A word.go that an edit or an override no longer fits stops the generator.
func TestGenerateRefuses(t *testing.T) {
	source, err := os.ReadFile("../../../internal/engine/words/word.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct{ old, new, want string }{
		{"w.state.Add(1)", "w.state.Add(2 - 1)", "occurs 0 times"},
		{"func (w *Word) Pass(", "func (w *Word) Leave(", "no method Pass"},
		{"next := w.state.Add(1)", "w.Trim(limit, mask)\n\tnext := w.state.Add(1)", "Step uses Trim"},
		{"sync/atomic", "atomic", "occurs 0 times"},
	} {
		if _, err := generate(strings.ReplaceAll(string(source), v.old, v.new)); err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("with %q for %q: %v, not %q", v.new, v.old, err, v.want)
		}
	}
	if source, err = os.ReadFile("../../../internal/engine/steps/steps.go"); err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct{ old, new, want string }{
		{"blocks   = 8 ", "blocks   = 4 ", "occurs 0 times"},
		{"b = &s.blocks[now%blocks]", "b = s.present(now)", "the present block is free"},
	} {
		if _, err := variants[0].generate(strings.ReplaceAll(string(source), v.old, v.new)); err == nil || !strings.Contains(err.Error(), v.want) {
			t.Errorf("with %q for %q: %v, not %q", v.new, v.old, err, v.want)
		}
	}
}

// Without the header and with the import of sync/atomic, simwords/word.go is word.go, byte for byte.
func TestOnlyTheImportIsReplaced(t *testing.T) {
	source, err := os.ReadFile("../../../internal/engine/words/word.go")
	if err != nil {
		t.Fatal(err)
	}
	sim, err := os.ReadFile("../simwords/word.go")
	if err != nil {
		t.Fatal(err)
	}
	back := strings.Replace(strings.TrimPrefix(string(sim), header), simulate.new, simulate.old, 1)
	if back != string(source) {
		t.Error("simwords/word.go differs from word.go in more than its import")
	}
}

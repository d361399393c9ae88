package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
)

func TestChanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	old := time.Now().Add(-time.Hour)
	write := func(path, text string, at time.Time) {
		t.Helper()
		testkit.OK(t, os.WriteFile(path, []byte(text), 0o600))
		testkit.OK(t, os.Chtimes(path, at, at))
	}
	want := func(f *Files, what string, looks ...bool) {
		t.Helper()
		for i, w := range looks {
			if got := f.Changed(); got != w {
				t.Errorf("%s: look %d: %v", what, i, got)
			}
		}
	}
	write(path, "one", old)
	f := New(path, filepath.Join(dir, "missing"))
	want(f, "no change", false, false)
	write(path, "two!", old)
	want(f, "another size", false, true, false)
	write(path, "six!", old.Add(time.Second))
	want(f, "another time", false, true, false)
	write(filepath.Join(dir, "other"), "ten!", old.Add(time.Second))
	testkit.OK(t, os.Rename(filepath.Join(dir, "other"), path))
	want(f, "another file", false, true, false)
	write(path, "a", old)
	want(f, "while it is written", false)
	write(path, "ab", old)
	want(f, "while it is written", false, true, false)
	write(filepath.Join(dir, "missing"), "x", old)
	want(f, "a file that was missing", false, true, false)
	testkit.OK(t, os.Remove(path))
	want(f, "a removed file", false, true, false)
	write(path, "one", time.Now())
	f = New(path)
	want(f, "a file of this moment", false)
	write(path, "two", time.Now())
	want(f, "a file of this moment, written again", false, true, false)
}

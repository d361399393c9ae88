package filelease_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

func TestKeys(t *testing.T) {
	dir := t.TempDir()
	store := testkit.Must(filelease.Open(dir))
	for _, key := range []string{"b/pool", "a/workers/00001", "a/pool"} {
		testkit.Must(store.Put(t.Context(), key, []byte("x"), driver.None))
	}
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "a", "notes"), nil, 0o600))
	for prefix, want := range map[string]string{"": "a/pool a/workers/00001 b/pool", "a/": "a/pool a/workers/00001", "c": ""} {
		keys, err := store.Keys(t.Context(), prefix)
		if got := strings.Join(keys, " "); err != nil || got != want {
			t.Errorf("%q: %s, %v; want %s", prefix, got, err, want)
		}
	}
	if os.Getuid() > 0 { // not root, and not on Windows, where a mode does not limit rights
		testkit.OK(t, os.Chmod(filepath.Join(dir, "a", "workers"), 0))
		defer os.Chmod(filepath.Join(dir, "a", "workers"), 0o700)
		if keys, err := store.Keys(t.Context(), "a/"); err != nil || !slices.Contains(keys, "a/workers/") {
			t.Errorf("%q, %v", keys, err)
		}
	}
}

// TestProbe: a probe leaves nothing, and names the folder that cannot be written.
func TestProbe(t *testing.T) {
	dir := t.TempDir()
	store := testkit.Must(filelease.Open(dir))
	testkit.Must(store.Put(t.Context(), "a/pool", []byte("x"), driver.None))
	testkit.OK(t, store.Probe(t.Context()))
	for _, folder := range []string{dir, filepath.Join(dir, "a")} {
		if left, _ := filepath.Glob(filepath.Join(folder, ".firn-probe-*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
	if os.Getuid() > 0 { // not root, and not on Windows, where a mode does not limit rights
		folder := filepath.Join(dir, "a")
		testkit.OK(t, os.Chmod(folder, 0o500))
		defer os.Chmod(folder, 0o700)
		if err := store.Probe(t.Context()); err == nil || err.Error() != folder+" cannot be written: permission denied" {
			t.Error(err)
		}
	}
}

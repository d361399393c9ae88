package frozen

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	if _, err := Folders(dir); err == nil {
		t.Error("an empty folder has versions")
	}
	for _, name := range []string{"v0.10.0", "v0.2.0", "v1.0.0", "v0.2.11", "v0.2.9"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	folders, err := Folders(dir)
	for i, folder := range folders {
		folders[i] = filepath.Base(folder)
	}
	if want := []string{"v0.2.0", "v0.2.9", "v0.2.11", "v0.10.0", "v1.0.0"}; err != nil || !slices.Equal(folders, want) {
		t.Errorf("the folders are %q, %v; want %q", folders, err, want)
	}
	if err := os.Mkdir(filepath.Join(dir, "v1.x.0"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Folders(dir); err == nil {
		t.Error("v1.x.0 is taken for a version")
	}
}

func TestWritable(t *testing.T) {
	tags := func() ([]byte, error) { return []byte("v0.0.9\nlease/pglease/v0.1.1\nv0.1.0\n"), nil }
	for version, free := range map[string]bool{"v0.1.0": false, "v0.0.9": false, "v0.1.1": true, "v0.1": false, "../v0.1.1": false, "v0.1.1-rc.1": false} {
		if err := Writable(version, tags); (err == nil) != free {
			t.Errorf("%s: %v", version, err)
		}
	}
	if Writable("v0.1.1", func() ([]byte, error) { return nil, errors.New("no git") }) == nil {
		t.Error("without git, a folder may be written")
	}
}

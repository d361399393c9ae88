package vectors_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/vectors"
)

var update = flag.Bool("update", false, "write vectors.json.gz")

// TestCompressed: the compressed file has the files of all formats, as they are.
func TestCompressed(t *testing.T) {
	want := make(map[string]json.RawMessage)
	for _, name := range []string{vectors.Values, vectors.Rejects} {
		paths, err := filepath.Glob("*/" + name)
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want[filepath.ToSlash(path)] = bytes.TrimSpace(text)
		}
	}
	if *update {
		write(t, want)
		return
	}
	const advice = "run go test ./internal/vectors -update"
	got := vectors.All()
	if len(got) != len(want) {
		t.Errorf("vectors.json.gz has %d files, not %d: %s", len(got), len(want), advice)
	}
	for path, text := range want {
		if !bytes.Equal(got[path], text) {
			t.Errorf("vectors.json.gz has an old %s: %s", path, advice)
		}
	}
}

// write writes the compressed file.
func write(t *testing.T, files map[string]json.RawMessage) {
	var text bytes.Buffer
	text.WriteString("{")
	for i, path := range slices.Sorted(maps.Keys(files)) {
		if i > 0 {
			text.WriteString(",")
		}
		text.WriteString(strconv.Quote(path) + ":")
		text.Write(files[path])
	}
	text.WriteString("}")
	var file bytes.Buffer
	w, err := gzip.NewWriterLevel(&file, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("vectors.json.gz", file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFormats: each format has vectors, with fields that the format has.
func TestFormats(t *testing.T) {
	for _, f := range inspect.Formats() {
		all, err := vectors.Read(vectors.All(), f.Name())
		if err != nil || len(all) < 10 {
			t.Errorf("%s: %d vectors, %v", f.Name(), len(all), err)
		}
		known := make(map[string]bool)
		for _, field := range f.Descriptor().Default().Fields {
			known[field.Name] = true
		}
		for _, v := range all {
			if v.Time.IsZero() && v.Fields["timestamp"] == "" || v.Text+v.Decimal+v.Hex+v.Base36 == "" || len(v.Fields) < 2 {
				t.Errorf("%s: too little is known of %+v", f.Name(), v)
			}
			for name := range v.Fields {
				if !known[name] {
					t.Errorf("%s: no field %s", f.Name(), name)
				}
			}
		}
		rejects, err := vectors.ReadRejects(vectors.All(), f.Name())
		if err != nil || len(rejects) < 10 {
			t.Errorf("%s: %d inputs, %v", f.Name(), len(rejects), err)
		}
	}
}

// TestVersions: the members of a version are those of the version's format alone.
func TestVersions(t *testing.T) {
	for format, want := range map[string]string{"ulidflake": "1048575", "ulidflake-scalable": "32767"} {
		all, err := vectors.Read(vectors.All(), format)
		if err != nil || all[1].Fields["randomness"] != want {
			t.Errorf("%s: %+v, %v", format, all[1], err)
		}
		if _, ok := all[1].Fields["scalability"]; ok != (format != "ulidflake") {
			t.Errorf("%s: %+v", format, all[1])
		}
	}
}

func TestDamaged(t *testing.T) {
	if _, err := vectors.Read(vectors.All(), "unknown"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, text := range []string{"", "{", "[1]", `[{"unix_ms": "x"}]`, `[{"epoch_ms": 99999999999999999999}]`} {
		files := vectors.Files{"a/vectors.json": []byte(text)}
		if all, err := vectors.Read(files, "a"); err == nil {
			t.Errorf("%s: %v", text, all)
		}
	}
}

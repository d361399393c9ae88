package vectors_test

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/vectors"
)

// TestFormats: each format has vectors, with fields that the format has.
func TestFormats(t *testing.T) {
	for _, f := range inspect.Formats() {
		all, err := vectors.Read(vectors.Files, f.Name())
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
		rejects, err := vectors.ReadRejects(vectors.Files, f.Name())
		if err != nil || len(rejects) < 10 {
			t.Errorf("%s: %d inputs, %v", f.Name(), len(rejects), err)
		}
	}
}

// TestVersions: the members of a version are those of the version's format alone.
func TestVersions(t *testing.T) {
	for format, want := range map[string]string{"ulidflake": "1048575", "ulidflake-scalable": "32767"} {
		all, err := vectors.Read(vectors.Files, format)
		if err != nil || all[1].Fields["randomness"] != want {
			t.Errorf("%s: %+v, %v", format, all[1], err)
		}
		if _, ok := all[1].Fields["scalability"]; ok != (format != "ulidflake") {
			t.Errorf("%s: %+v", format, all[1])
		}
	}
}

func TestDamaged(t *testing.T) {
	if _, err := vectors.Read(vectors.Files, "unknown"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, text := range []string{"", "{", "[1]", `[{"unix_ms": "x"}]`, `[{"epoch_ms": 99999999999999999999}]`} {
		files := fstest.MapFS{"a/vectors.json": {Data: []byte(text)}}
		if all, err := vectors.Read(files, "a"); err == nil {
			t.Errorf("%s: %v", text, all)
		}
	}
}

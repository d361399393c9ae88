package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/bench/storage/report"
	"github.com/firn-id/firn/dev/bench/storage/servers"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/undo"
)

func TestMain(m *testing.M) { os.Exit(undo.Main(m)) }

// The command measures each format once in each round, and -from makes the same tables.
func TestRun(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	dir := t.TempDir()
	var tables, progress bytes.Buffer
	err := run(t.Context(), strings.Fields("-rows 2000 -inserts 200 -lookups 100 -rounds 2 -servers mariadb -formats serial,uuidv7-bytes -out "+dir), &tables, &progress)
	if errors.Is(err, servers.ErrMissing) || errors.Is(err, errors.ErrUnsupported) {
		services.Missing(t, "the server takes Linux and the Debian package mariadb-server: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(progress.String(), "\nround ") + 1; got != 4 {
		t.Errorf("%d tables were measured, want 4:\n%s", got, &progress)
	}
	for _, row := range []string{"| serial | `bigint AUTO_INCREMENT` |", "| UUIDv7 as bytes | `binary(16)` |"} {
		if !strings.Contains(tables.String(), row) {
			t.Errorf("the tables do not have %q:\n%s", row, &tables)
		}
	}
	var again bytes.Buffer
	if err := run(t.Context(), []string{"-from", dir}, &again, io.Discard); err != nil {
		t.Fatal(err)
	}
	if again.String() != tables.String() {
		t.Error("the tables of the files differ from the tables of the run")
	}
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{
		{"-formats", "serial,snoflake"}, {"-servers", "oracle"}, {"-rows", "0"}, {"-rounds", "many"}, {"results"}, {"-from", t.TempDir()},
		{"-out", filepath.Join(t.TempDir(), "missing", "results") + "\x00"},
	} {
		if err := run(t.Context(), append([]string{"-quick"}, args...), io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// The document has the sizes and the charts of the results, results/tables.md has all tables, and the charts are those of
// the measurements.
func TestDocument(t *testing.T) {
	r, err := report.Read("results")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../../docs/choosing-storage.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, server := range servers.Names {
		sizes := r.TablesOf(server)[0]
		if !strings.Contains(string(page), sizes.Markdown) {
			t.Errorf("the document does not have the table %q of the results: copy the table from results/tables.md", sizes.Title)
		}
	}
	if tables, err := os.ReadFile("results/tables.md"); err != nil || string(tables) != string(r.Tables()) {
		t.Errorf("results/tables.md does not have the tables of the results: %v", err)
	}
	charts, err := filepath.Glob("results/*.svg")
	if err != nil || len(charts) == 0 {
		t.Fatalf("%d charts: %v", len(charts), err)
	}
	dir := t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, chart := range charts {
		stored, err1 := os.ReadFile(chart)
		drawn, err2 := os.ReadFile(filepath.Join(dir, filepath.Base(chart)))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(stored, drawn) {
			t.Errorf("%s is not the chart of the measurements, %v: go run -C dev ./bench/storage -from bench/storage/results", chart, err)
		}
		if !strings.Contains(string(page), "../dev/bench/storage/"+filepath.ToSlash(chart)) {
			t.Errorf("the document does not show %s", chart)
		}
	}
}

package pglease_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/pglease"
)

// exampleMain runs the functions of pglease.ExampleOpen at an address.
const exampleMain = `package main

import (
	"context"
	"log"
	"os"
)

func main() {
	if err := migrate(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if err := serve(context.Background(), os.Args[1]); err != nil {
			log.Fatal(err)
		}
	}
}
`

// TestExampleOpen makes a program of the example of Open, and runs the program on the server that
// the tests find.
func TestExampleOpen(t *testing.T) {
	addr := given("table=" + schema(t, connect(t, given())) + ".leases")
	source, err := os.ReadFile("../../../pglease/example_test.go")
	testkit.OK(t, err)
	dir := t.TempDir()
	var files []string
	for name, text := range map[string][]byte{
		"example.go": bytes.Replace(source, []byte("package pglease_test"), []byte("package main"), 1),
		"main.go":    []byte(exampleMain),
	} {
		files = append(files, filepath.Join(dir, name))
		testkit.OK(t, os.WriteFile(files[len(files)-1], text, 0o600))
	}
	out, err := exec.CommandContext(t.Context(), "go", append(append([]string{"run"}, files...), addr)...).CombinedOutput()
	if err != nil || bytes.Count(out, []byte("\n")) != 2 {
		t.Fatalf("%v\n%s", err, out)
	}
	s, err := pglease.Open(t.Context(), addr)
	testkit.OK(t, err)
	defer s.Close()
	if list, err := s.List(t.Context(), "nanoflake/"); err != nil || len(list) == 0 {
		t.Errorf("the example has left %v, %v", list, err)
	}
}

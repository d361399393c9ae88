package testkit

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/firn-id/firn/internal/vectors"
)

// Load reads the vectors of a file in testdata: a JSON array of objects. V must have a field for
// every member of the objects.
func Load[V any](t testing.TB, file string) []V {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return decode[V](t, "testdata/"+file, text)
}

// Vectors returns the vectors of a format, as Load.
func Vectors[V any](t testing.TB, format string) []V {
	t.Helper()
	return load[V](t, format, vectors.Values)
}

// load returns what a file of package vectors has of a format, as Load.
func load[V any](t testing.TB, format, file string) []V {
	t.Helper()
	path := vectors.Path(format, file)
	return decode[V](t, path, vectors.All()[path])
}

// decode reads a JSON array of objects.
func decode[V any](t testing.TB, name string, text []byte) (all []V) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(all) == 0 {
		t.Fatalf("%s: no vectors", name)
	}
	return all
}

// Big returns the integer of the decimal digits in a vector.
func Big(t testing.TB, digits string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		t.Fatalf("%q is not an integer", digits)
	}
	return v
}

// A Reject is an input that must be refused.
type Reject struct{ vectors.Reject }

// Bytes returns the input.
func (r Reject) Bytes(t testing.TB) string {
	t.Helper()
	s, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

package testkit

import (
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"strings"
	"testing"
)

// Load reads the vectors of a file in testdata: a JSON array of objects. V must have a field for
// every member of the objects.
func Load[V any](t testing.TB, file string) []V {
	t.Helper()
	f, err := os.Open("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	var vectors []V
	if err := d.Decode(&vectors); err != nil {
		t.Fatalf("testdata/%s: %v", file, err)
	}
	if len(vectors) == 0 {
		t.Fatalf("testdata/%s: no vectors", file)
	}
	return vectors
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

// A Reject is a vector of testdata/reject.json: an input that must be refused.
type Reject struct {
	Why    string `json:"why"`
	Form   string `json:"form"`             // text, decimal, base36, hex, binary, json, int or uint
	Input  string `json:"input"`            // the input
	Hex    string `json:"hex,omitempty"`    // the bytes of the input, instead of Input
	Repeat int    `json:"repeat,omitempty"` // number of repetitions of the input
	Error  Kind   `json:"error"`
	Offset int    `json:"offset"`
}

// Bytes returns the input.
func (r Reject) Bytes(t testing.TB) string {
	t.Helper()
	s := r.Input
	if r.Hex != "" {
		b, err := hex.DecodeString(r.Hex)
		if err != nil {
			t.Fatal(err)
		}
		s = string(b)
	}
	return strings.Repeat(s, max(r.Repeat, 1))
}

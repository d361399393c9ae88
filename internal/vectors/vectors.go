// Package vectors has the test vectors of all formats, for tests and for firn selftest. The vectors are facts
// made by independent implementations, and inputs that a format must refuse.
//
//	FORMAT/vectors.json   IDs and their fields
//	FORMAT/reject.json    inputs that are no IDs, and the faults
//
// The versions of a format share a folder. Programs carry one compressed file with all files, an eighth of the
// size: go test ./internal/vectors -update writes it.
package vectors

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the compressed file
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"
)

//go:embed vectors.json.gz
var compressed []byte

// Files are the texts of files, by the path.
type Files map[string]json.RawMessage

// All returns all files. Do not change what it returns.
var All = sync.OnceValue(func() (all Files) {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err == nil {
		err = json.NewDecoder(r).Decode(&all)
	}
	if err != nil {
		panic(err) // the test of the file has failed
	}
	return all
})

// The files of a format.
const (
	Values  = "vectors.json"
	Rejects = "reject.json"
)

// Path returns the path of a file of a format.
func Path(format, file string) string {
	folder, _, _ := strings.Cut(format, "-")
	return folder + "/" + file
}

// A Value is an ID, with what is known of the ID. Empty texts are not known.
type Value struct {
	Text, Decimal, Hex string
	Base36             string // without leading zeros

	Time time.Time // the zero time is not known

	// Epoch, ClockBits and MachineBits are settings; nil means the default.
	Epoch                  *time.Time
	ClockBits, MachineBits *int

	Fields map[string]string // the names of the fields, and the values in decimal
}

// Read returns the values of a format. The error is fs.ErrNotExist for a format without vectors.
func Read(files Files, format string) ([]Value, error) {
	var objects []map[string]json.RawMessage
	if err := decode(files, Path(format, Values), &objects); err != nil {
		return nil, err
	}
	_, version, _ := strings.Cut(format, "-")
	var all []Value
	for i, o := range objects {
		v := Value{Fields: make(map[string]string)}
		if err := v.set(o, version); err != nil {
			return nil, fmt.Errorf("%s: vector %d: %w", Path(format, Values), i+1, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// set sets the members of an object. Members of the object with the name of the version come after the others.
func (v *Value) set(object map[string]json.RawMessage, version string) error {
	var inner map[string]json.RawMessage
	for name, raw := range object {
		if raw[0] == '{' {
			if name == version {
				if err := json.Unmarshal(raw, &inner); err != nil {
					return err
				}
			}
			continue
		}
		if err := v.member(name, strings.Trim(string(raw), `"`)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if inner == nil {
		return nil
	}
	return v.set(inner, "")
}

// member sets what a member of an object says.
func (v *Value) member(name, value string) error {
	number := func(set func(int64)) error {
		var n int64
		if _, err := fmt.Sscan(value, &n); err != nil {
			return err
		}
		set(n)
		return nil
	}
	switch name {
	case "value", "int":
		v.Decimal = value
	case "string", "base32hex":
		v.Text = value
	case "hex":
		v.Hex = value
	case "base36":
		v.Base36 = value
	case "unix_ms":
		return number(func(n int64) { v.Time = time.UnixMilli(n).UTC() })
	case "unix_ns":
		return number(func(n int64) { v.Time = time.Unix(0, n).UTC() })
	case "epoch_ms":
		return number(func(n int64) { at := time.UnixMilli(n).UTC(); v.Epoch = &at })
	case "clock_bits":
		return number(func(n int64) { bits := int(n); v.ClockBits = &bits })
	case "machine_bits":
		return number(func(n int64) { bits := int(n); v.MachineBits = &bits })
	case "sequence_bits": // what the other widths leave
	default:
		v.Fields[name] = value
	}
	return nil
}

// A Reject is an invalid input.
type Reject struct {
	Why    string
	Form   string // text, decimal, base36, hex, binary, json, int or uint
	Input  string
	Hex    string // the bytes of the input, instead of Input
	Repeat int    // number of repetitions of the input; 0 means one
	Error  string // length, character, range, type or no ID
	Offset int    // of the wrong byte; -1 if the fault is not in one place
}

// Text returns the input.
func (r Reject) Text() (string, error) {
	s := r.Input
	if r.Hex != "" {
		b, err := hex.DecodeString(r.Hex)
		if err != nil {
			return "", err
		}
		s = string(b)
	}
	return strings.Repeat(s, max(r.Repeat, 1)), nil
}

// ReadRejects returns the inputs that the format must refuse. The error is fs.ErrNotExist for a format without
// vectors.
func ReadRejects(files Files, format string) (all []Reject, err error) {
	return all, decode(files, Path(format, Rejects), &all)
}

func decode(files Files, path string, dst any) error {
	text, ok := files[path]
	if !ok {
		return fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	if err := json.Unmarshal(text, dst); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

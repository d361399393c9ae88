package keys

import (
	"bytes"
	"slices"
	"testing"
	"time"
)

// order returns the number of keys that are smaller than an earlier key, and the greatest number of
// earlier keys above a key.
func order(s Set) (late, furthest int) {
	var sorted [][]byte
	for i := range s.Len() {
		key := s.At(i)
		place, _ := slices.BinarySearchFunc(sorted, key, bytes.Compare)
		if behind := len(sorted) - place; behind > 0 {
			late++
			furthest = max(furthest, behind)
		}
		sorted = slices.Insert(sorted, place, key)
	}
	return late, furthest
}

func TestKeys(t *testing.T) {
	const n = 20_000
	for i := range Formats {
		f := &Formats[i]
		if !f.Generated() {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			s, err := Generate(f, n, Realistic())
			if err != nil {
				t.Fatal(err)
			}
			if s.Len() != n {
				t.Fatalf("%d keys, want %d", s.Len(), n)
			}
			seen := make(map[string]bool)
			for i := range n {
				seen[string(s.At(i))] = true
			}
			if len(seen) != n {
				t.Errorf("%d distinct keys of %d", len(seen), n)
			}
			// The keys of a tick are out of order among the workers: 50 keys in a millisecond, and
			// 200 in a tick of sno.
			late, furthest := order(s)
			random := f.Name == "uuidv4"
			if inOrder := furthest <= 4*50; inOrder == random {
				t.Errorf("a key stands up to %d keys behind its place", furthest)
			}
			if late > 0 != (f.Workers != 1) {
				t.Errorf("%d keys are out of order", late)
			}
		})
	}
}

// One worker makes keys in order, except for UUIDv4.
func TestOneWorker(t *testing.T) {
	p := Realistic()
	p.Workers = 1
	for i := range Formats {
		f := &Formats[i]
		if !f.Generated() {
			continue
		}
		s, err := Generate(f, 5000, p)
		if err != nil {
			t.Fatal(err)
		}
		late, _ := order(s)
		random := f.Name == "uuidv4"
		if late > 0 != random {
			t.Errorf("%s: %d keys of one worker are out of order", f.Name, late)
		}
	}
}

// A worker that cannot keep the pace must end the run, not repeat a key.
func TestTooFast(t *testing.T) {
	f, err := Find("snowflakesi")
	if err != nil {
		t.Fatal(err)
	}
	p := Realistic()
	p.PerSecond, p.Workers = int(10*time.Second/time.Millisecond)*256, 1
	if _, err := Generate(f, 10_000, p); err == nil {
		t.Error("a worker with 256 IDs in a millisecond made 2560")
	}
}

func TestFind(t *testing.T) {
	if _, err := Find("snoflake"); err == nil {
		t.Error("found an unknown format")
	}
}

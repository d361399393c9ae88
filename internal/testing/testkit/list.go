package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firn-id/firn/iderr"
)

// A List has a format's functions for lists of IDs, and the functions for single IDs to compare
// with.
type List[T comparable] struct {
	AppendAll func(dst []byte, ids []T, sep byte) ([]byte, error)
	ParseAll  func(dst []T, text []byte, sep byte) ([]T, error)

	Append func(id T, dst []byte) ([]byte, error)
	Parse  func(text string) (T, error)

	Some func(r *rand.Rand) T // returns a random ID
	NoID []T                  // values without a text
	More []string             // texts that are not canonical

	Shortest int // length of the shortest text
}

// readEach reads a list text by text. bad is the expected error, or nil.
func (l List[T]) readEach(text []byte, sep byte) (ids []T, bad *iderr.ListError) {
	at := 0
	for i, s := range bytes.Split(text, []byte{sep}) {
		if at == len(text) {
			break // after the last separator, or in an empty list
		}
		id, err := l.Parse(string(s))
		if err != nil {
			return ids, &iderr.ListError{Index: i, Offset: at, Err: err}
		}
		ids = append(ids, id)
		at += len(s) + 1
	}
	return ids, nil
}

// Check reads a list, and compares with the function for single IDs.
func (l List[T]) Check(t testing.TB, text []byte, sep byte) {
	t.Helper()
	want, bad := l.readEach(text, sep)
	before := l.Some(rand.New(rand.NewPCG(1, 1)))
	for _, dst := range [][]T{nil, {before}, append(make([]T, 0, 7), before)} {
		kept := bytes.Clone(text)
		got, err := l.ParseAll(dst, text, sep)
		if !slices.Equal(got, slices.Concat(dst, want)) {
			t.Fatalf("%q by %q: read as %v, want %v", text, sep, got, want)
		}
		if !bytes.Equal(text, kept) {
			t.Fatalf("%q was changed to %q", kept, text)
		}
		if fault := sameListError(err, bad); fault != "" {
			t.Fatalf("%q by %q: %s", text, sep, fault)
		}
	}
}

// sameListError returns the difference between an error and the expected error, in words, or "".
func sameListError(got error, want *iderr.ListError) string {
	if want == nil {
		if got != nil {
			return fmt.Sprintf("gave %v, want none", got)
		}
		return ""
	}
	e, ok := errors.AsType[*iderr.ListError](got)
	if !ok || e.Index != want.Index || e.Offset != want.Offset || e.Error() != want.Error() {
		return fmt.Sprintf("gave %v, want %v", got, want)
	}
	for _, kind := range sentinels {
		if errors.Is(got, kind) != errors.Is(want.Err, kind) {
			return fmt.Sprintf("%v is not the error of its text, %v", got, want.Err)
		}
	}
	return ""
}

// Lists writes and reads lists of all lengths, sound and damaged.
func (l List[T]) Lists(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	faults := 0
	for n := range 70 {
		ids := make([]T, n)
		for i := range ids {
			ids[i] = l.Some(r)
		}
		for _, sep := range []byte{'\n', ',', 0, 0xff, '0', 'a', 'A', byte(r.Uint32())} {
			var want []byte
			for _, id := range ids {
				text, err := l.Append(id, nil)
				if err != nil {
					t.Fatal(err)
				}
				want = append(append(want, text...), sep)
			}
			for _, room := range []int{0, 1, len(want) - 1, len(want), len(want) + 100} {
				memory := bytes.Repeat([]byte{'#'}, 1+max(room, 0)+8)
				got, err := l.AppendAll(memory[:1:1+max(room, 0)], ids, sep)
				if err != nil || string(got) != "#"+string(want) {
					t.Fatalf("%d IDs by %q are written as %q, %v; want %q", n, sep, got, err, want)
				}
				if len(bytes.Trim(memory[1+max(room, 0):], "#")) > 0 {
					t.Fatalf("%d IDs by %q: wrote past the slice", n, sep)
				}
			}
			l.Check(t, want, sep)
			l.Check(t, want[:max(len(want)-1, 0)], sep) // without the last separator
			l.Check(t, append(want[:len(want):len(want)], sep), sep)
			if n == 0 {
				continue
			}
			for range 4 {
				damaged := bytes.Clone(want)
				at := r.IntN(len(damaged))
				damaged[at] = []byte{'!', sep, ' ', byte(r.Uint32()), damaged[at] ^ 0x20}[r.IntN(5)]
				switch r.IntN(3) {
				case 0:
					damaged = slices.Delete(damaged, at, at+1)
				case 1:
					damaged = slices.Insert(damaged, at, sep)
				}
				if _, bad := l.readEach(damaged, sep); bad != nil {
					faults++
				}
				l.Check(t, damaged, sep)
				if len(l.More) > 0 {
					l.Check(t, append([]byte(l.More[r.IntN(len(l.More))]+string(sep)), want...), sep)
					l.Check(t, append(append(want[:len(want):len(want)], l.More[r.IntN(len(l.More))]...), sep), sep)
				}
			}
		}
		for i := range ids {
			for _, wrong := range l.NoID {
				with := slices.Insert(slices.Clone(ids), i, wrong)
				sound, _ := l.AppendAll([]byte("#"), ids[:i], '\n')
				got, err := l.AppendAll([]byte("#"), with, '\n')
				_, one := l.Append(wrong, nil)
				if !bytes.Equal(got, sound) {
					t.Fatalf("%v, of which %d is none, are written as %q, want %q", with, i, got, sound)
				}
				if fault := sameListError(err, &iderr.ListError{Index: i, Offset: -1, Err: one}); fault != "" {
					t.Fatalf("%v: %s", with, fault)
				}
			}
		}
	}
	if faults < 500 {
		t.Errorf("only %d lists were damaged", faults)
	}
}

// Hostile reads a list with more separators than possible IDs, and checks that ParseAll does not
// allocate memory for so many IDs.
func (l List[T]) Hostile(t *testing.T) {
	text := bytes.Repeat([]byte{'\n'}, 1<<20)
	got, err := l.ParseAll(nil, text, '\n')
	if err == nil || cap(got)*l.Shortest > len(text) {
		t.Errorf("a list of nothing is read with %v, and memory for %d IDs", err, cap(got))
	}
}

// Fuzz fuzzes the reading of lists.
func (l List[T]) Fuzz(f *testing.F) {
	r := rand.New(rand.NewPCG(17, 18))
	for n := range 8 {
		ids := make([]T, n)
		for i := range ids {
			ids[i] = l.Some(r)
		}
		text, err := l.AppendAll(nil, ids, '\n')
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, byte('\n'))
		f.Add(text, byte('0'))
		f.Add(bytes.ToUpper(text), byte('\n'))
		f.Add(append(text, "\r\n"...), byte('\n'))
	}
	for _, s := range l.More {
		f.Add([]byte(s+","+s), byte(','))
	}
	f.Fuzz(func(t *testing.T, text []byte, sep byte) {
		l.Check(t, text, sep)
		ids, bad := l.readEach(text, sep)
		if bad != nil {
			return
		}
		written, err := l.AppendAll(nil, ids, '\n')
		if err != nil {
			t.Fatal(err)
		}
		if back, err := l.ParseAll(nil, written, '\n'); err != nil || !slices.Equal(back, ids) {
			t.Fatalf("%q is read as %v, %v; want %v", written, back, err, ids)
		}
	})
}

// Allocations checks that writing and reading lists allocates nothing if the destination has room,
// and that reading allocates once if not.
func (l List[T]) Allocations(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	ids := make([]T, 100)
	for i := range ids {
		ids[i] = l.Some(r)
	}
	text, err := l.AppendAll(nil, ids, '\n')
	if err != nil {
		t.Fatal(err)
	}
	room, back := make([]byte, 0, 100*64), make([]T, 0, len(ids)+1)
	allocations(t, "AppendAll", 0, func() error { _, err := l.AppendAll(room, ids, '\n'); return err })
	allocations(t, "ParseAll", 0, func() error { _, err := l.ParseAll(back, text, '\n'); return err })
	allocations(t, "ParseAll without room", 1, func() error { _, err := l.ParseAll(nil, text[:len(text)-1], '\n'); return err })
}

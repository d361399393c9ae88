package spill

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestSorter compares sorters of all widths, with little memory, with the sort of the library.
func TestSorter(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	testWidth[[2]uint64](t, 1)
	testWidth[[4]uint64](t, 2)
}

func testWidth[R Record](t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	var r R
	for _, n := range []int{0, 1, 40, 1000, 5000, 20_000} {
		for name, draw := range map[string]func(i int) uint64{
			"random":  func(int) uint64 { return random.Uint64() },
			"sorted":  func(i int) uint64 { return uint64(i) << 40 },
			"reverse": func(i int) uint64 { return ^uint64(i) },
			"few":     func(int) uint64 { return random.Uint64N(3) << 62 },
			"equal":   func(int) uint64 { return 1<<63 | 5 },
		} {
			var want []R
			s := New[R](Config{Memory: LeastMemory})
			defer s.Close()
			for i := range n {
				for w := range len(r) {
					r[w] = draw(i)
				}
				want = append(want, r)
				testkit.OK(t, s.Add(r))
			}
			slices.SortFunc(want, func(a, b R) int { return slices.Compare(words(a), words(b)) })
			var got []R
			if err := s.Each(t.Context(), func(batch []R) error {
				got = append(got, batch...)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d %s records of %d words: wrong order", n, name, len(r))
			}
			if s.Len() != int64(n) {
				t.Errorf("%d records, not %d", s.Len(), n)
			}
		}
	}
}

// words returns the words of a record.
func words[R Record](r R) (all []uint64) {
	for i := range len(r) {
		all = append(all, r[i])
	}
	return all
}

// TestManyLevels: runs of all levels are merged, whatever the number of runs.
func TestManyLevels(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	perRun := LeastMemory * chunkPart / 16 / 16
	for _, runs := range []int{1, 2, 3, 4, 5, 15, 16, 17, 21, 64, 65, 85, 100} {
		for _, odd := range []int{-1, 0, 1} {
			s := New[[2]uint64](Config{Memory: LeastMemory})
			n := runs*perRun + odd
			for i := range n {
				testkit.OK(t, s.Add([2]uint64{uint64(i) * 0x9e3779b97f4a7c15}))
			}
			last, count := uint64(0), 0
			if err := s.Each(t.Context(), func(batch [][2]uint64) error {
				for _, r := range batch {
					if r[0] < last {
						t.Errorf("%d after %d", r[0], last)
					}
					last = r[0]
					count++
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if count != n {
				t.Errorf("%d records, not %d", count, n)
			}
			s.Close()
		}
	}
}

// TestNoFilesLeft: a sorter leaves no file, wherever it ends.
func TestNoFilesLeft(t *testing.T) {
	dir := t.TempDir()
	fill := func(s *Sorter[[2]uint64], n int) {
		for i := range n {
			testkit.OK(t, s.Add([2]uint64{^uint64(i), 7}))
		}
	}
	stop := errors.New("stop")
	for name, end := range map[string]func(s *Sorter[[2]uint64]) error{
		"never merged": func(*Sorter[[2]uint64]) error { return stop },
		"merged": func(s *Sorter[[2]uint64]) error {
			return errors.Join(s.Each(t.Context(), func([][2]uint64) error { return nil }), stop)
		},
		"error": func(s *Sorter[[2]uint64]) error { return s.Each(t.Context(), func([][2]uint64) error { return stop }) },
		"context": func(s *Sorter[[2]uint64]) error {
			ctx, cancel := context.WithCancelCause(t.Context())
			return s.Each(ctx, func([][2]uint64) error { cancel(stop); return nil })
		},
	} {
		s := New[[2]uint64](Config{Memory: LeastMemory, Dir: dir})
		fill(s, 50_000)
		if err := end(s); !errors.Is(err, stop) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v, %v", name, left, err)
		}
	}
}

// TestErrors: an error of temporary files names the directory and the remedy.
func TestErrors(t *testing.T) {
	s := New[[2]uint64](Config{Memory: LeastMemory, Dir: "/nonexistent/firn"})
	defer s.Close()
	var err error
	for i := 0; i < 10_000 && err == nil; i++ {
		err = s.Add([2]uint64{uint64(i)})
	}
	if err == nil {
		err = s.Each(t.Context(), func([][2]uint64) error { return nil })
	}
	var failed *Error
	if !errors.As(err, &failed) || failed.Dir != "/nonexistent/firn" || !errors.Is(err, os.ErrNotExist) || failed.Full {
		t.Errorf("%v", err)
	}
}

// TestFull: the error of a full disk says what to do.
func TestFull(t *testing.T) {
	err := failure("/tmp/x", &os.PathError{Op: "write", Path: "/tmp/x/firn-1", Err: syscall.ENOSPC})
	const want = "temporary files in /tmp/x: no space left on device: set TMPDIR to a directory with more room"
	if err.Error() != want && runtime.GOOS != "windows" || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v", err)
	}
}

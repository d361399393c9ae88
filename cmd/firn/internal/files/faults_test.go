package files

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestFaults: the lines come back, those in memory and those in a file.
func TestFaults(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 1000, 700_000} {
		for _, most := range []int64{0, 10, math.MaxInt64} {
			f := faults{most: most}
			var want []int64
			line := int64(0)
			for range n {
				line += 1 + random.Int64N(1<<random.IntN(40))
				if int64(len(want)) < most {
					want = append(want, line)
				}
				testkit.OK(t, f.add(line))
			}
			var got []int64
			if err := f.each(func(line int64) error { got = append(got, line); return nil }); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) || f.n != int64(n) {
				t.Errorf("%d lines, %d kept, want %d, %d", f.n, len(got), n, len(want))
			}
			stop := errors.New("stop")
			if err := f.each(func(int64) error { return stop }); err != stop && len(want) > 0 {
				t.Errorf("an error of the caller: %v", err)
			}
			f.lines.Close()
		}
	}
}

// TestSize: sizes are read as written, and written as read.
func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"16384": 16 << 10, "16K": 16 << 10, "64m": 64 << 20, "128M": 128 << 20, "1GiB": 1 << 30, "100000B": 100_000, "1023MB": 1023 << 20} {
		var m size
		if err := m.Set(text); err != nil || int64(m) != want {
			t.Errorf("%s is %d, %v", text, int64(m), err)
		}
		var again size
		if err := again.Set(m.String()); err != nil || again != m {
			t.Errorf("%s becomes %s", text, m.String())
		}
	}
	for _, text := range []string{"", "M", "-1M", "1.5G", "16", "1K", "99999999T", "1P", "18446744073709551616"} {
		var m size
		if err := m.Set(text); err == nil {
			t.Errorf("%s is %d", text, int64(m))
		}
	}
}

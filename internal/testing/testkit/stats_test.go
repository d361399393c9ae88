package testkit

import (
	"math/rand/v2"
	"testing"
)

// The checks must accept fair sources and refuse broken sources.
func TestJudges(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	fair := make([]uint64, 1<<15)
	for i := range fair {
		fair[i] = random.Uint64() >> 48
	}
	if fault := Random(fair, 16); fault != "" {
		t.Errorf("fair values: %s", fault)
	}
	for m := 2; m <= 1024; m++ {
		if fault := Spread(fair, m); fault != "" {
			t.Errorf("fair values: %s", fault)
		}
	}
	for name, breaks := range map[string]func(i int, v uint64) uint64{
		"a stuck bit":            func(_ int, v uint64) uint64 { return v | 8 },
		"a bit mostly set":       func(i int, v uint64) uint64 { return v | uint64(i%16/15)<<9 },
		"equal neighbours":       func(_ int, v uint64) uint64 { return v&^2 | v<<1&2 },
		"a missing value":        func(_ int, v uint64) uint64 { return v ^ uint64(1-min(v&63, 1))<<3 },
		"a counter":              func(i int, _ uint64) uint64 { return uint64(i) & 0xff },
		"each value twice":       func(i int, _ uint64) uint64 { return fair[i/2] },
		"a constant":             func(int, uint64) uint64 { return 0x5a5a },
		"more bits than allowed": func(i int, v uint64) uint64 { return v | uint64(i/30000)<<16 },
	} {
		broken := make([]uint64, len(fair))
		for i, v := range fair {
			broken[i] = breaks(i, v)
		}
		if Random(broken, 16) == "" {
			t.Errorf("%s passes", name)
		}
	}
	for name, f := range map[string]func(i int) uint64{
		"multiples of 2":   func(i int) uint64 { return 2 * uint64(i) },
		"a residue double": func(i int) uint64 { return uint64(i % 9 % 8) },
	} {
		skewed := make([]uint64, 1<<12)
		for i := range skewed {
			skewed[i] = f(i)
		}
		if Spread(skewed, 8) == "" {
			t.Errorf("%s pass", name)
		}
	}
}

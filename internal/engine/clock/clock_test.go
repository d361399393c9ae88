package clock_test

import (
	"math"
	"math/big"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// exact returns t in units of the given number of nanoseconds, limited to an int64.
func exact(t time.Time, unit int64) int64 {
	v := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e9))
	v.Add(v, big.NewInt(int64(t.Nanosecond())))
	v.Div(v, big.NewInt(unit))
	switch {
	case v.Cmp(big.NewInt(math.MaxInt64)) > 0:
		return math.MaxInt64
	case v.Cmp(big.NewInt(math.MinInt64)) < 0:
		return math.MinInt64
	}
	return v.Int64()
}

func TestUnits(t *testing.T) {
	times := append(testkit.Extremes(), time.Now(), time.UnixMilli(0), time.UnixMilli(-1), time.Unix(0, -1),
		time.UnixMilli(math.MaxInt64-2000), time.UnixMilli(math.MinInt64+2000), time.UnixMicro(math.MaxInt64-2e6), time.UnixMicro(math.MinInt64+2e6))
	for _, at := range times {
		if got, want := clock.Millis(at), exact(at, 1e6); got != want {
			t.Errorf("Millis(%v) = %d, want %d", at, got, want)
		}
	}
}

func TestEpochAndTime(t *testing.T) {
	testkit.Same(t, clock.Epoch(time.Time{}, 42), 42)
	testkit.Same(t, clock.Epoch(time.UnixMilli(7), 42), 7)
	for _, v := range [][2]int64{{0, 0}, {1, -5}, {1 << 41, 1609459200000}, {1<<48 - 1, 0}, {5, math.MinInt64}} {
		if got := clock.Time(v[0], v[1]); got.UnixMilli() != v[0]+v[1] || got.Location() != time.UTC {
			t.Errorf("Time(%d, %d) = %v", v[0], v[1], got)
		}
	}
	if got := clock.Time(1<<48, math.MaxInt64-5); got.UnixMilli() != math.MaxInt64 {
		t.Errorf("a time that does not fit is %v", got)
	}
}

func TestClock(t *testing.T) {
	at := time.Unix(5, 6)
	if got := clock.New(func() time.Time { return at }).Now(); !got.Equal(at) {
		t.Errorf("%v", got)
	}
	before := time.Now()
	if got := (clock.Clock{}).Now(); got.Before(before) || got.After(time.Now()) {
		t.Errorf("the system's clock is %v", got)
	}
}

// Pause ends on time, after a few milliseconds at most.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{1, time.Microsecond, 100 * time.Microsecond, time.Millisecond, 2 * time.Millisecond, 3 * time.Millisecond, time.Hour} {
			before := time.Now()
			clock.Pause(d)
			if slept := time.Since(before); slept <= 0 || slept > d || slept > 5*time.Millisecond {
				t.Errorf("Pause(%v) took %v", d, slept)
			}
		}
	})
}

// Pause parks its goroutine. It holds no P in a system call, so other goroutines can run.
func TestPauseParks(t *testing.T) {
	var stop atomic.Bool
	var all sync.WaitGroup
	all.Go(func() {
		for !stop.Load() {
			clock.Pause(time.Millisecond)
		}
	})
	defer all.Wait()
	defer stop.Store(true)
	buf := make([]byte, 1<<20)
	seen := 0
	wait.Until(t, "a goroutine sleeps in a pause, 20 times", func() bool {
		for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			head, frames, _ := strings.Cut(stack, "\n")
			if !strings.Contains(frames, "clock.Pause(") {
				continue
			}
			if strings.Contains(head, "[syscall") {
				t.Fatalf("in a pause:\n%s", stack)
			}
			if strings.Contains(head, "[sleep") {
				seen++
			}
		}
		return seen >= 20
	})
}

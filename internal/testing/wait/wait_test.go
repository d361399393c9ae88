package wait

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A fake is a test that may fail.
type fake struct {
	testing.TB
	failed bool
}

func (f *fake) Helper() {}

func (f *fake) Fatalf(string, ...any) {
	f.failed = true
	runtime.Goexit()
}

// Waits end soon after what they wait for, and fail the test after Patience.
func TestWaits(t *testing.T) {
	const after = Patience / 2
	var later func() bool
	var values, end, never chan int
	for name, c := range map[string]struct {
		wait func(t testing.TB)
		took time.Duration
	}{
		"true at once": {func(t testing.TB) { Until(t, "", func() bool { return true }) }, 0},
		"true later":   {func(t testing.TB) { Until(t, "", later) }, after},
		"never true":   {func(t testing.TB) { Until(t, "", func() bool { return false }) }, Patience},
		"a value":      {func(t testing.TB) { Receive(t, "", values) }, after},
		"no value":     {func(t testing.TB) { Receive(t, "", never) }, Patience},
		"closed":       {func(t testing.TB) { Closed(t, "", end) }, after},
		"not closed":   {func(t testing.TB) { Closed(t, "", never) }, Patience},
	} {
		synctest.Test(t, func(t *testing.T) {
			var is atomic.Bool
			later = is.Load
			values, end, never = make(chan int), make(chan int, 1), make(chan int)
			end <- 7
			time.AfterFunc(after, func() { is.Store(true); close(values); close(end) })
			f, began, done := new(fake), time.Now(), make(chan struct{})
			go func() {
				defer close(done)
				c.wait(f)
			}()
			<-done
			took := time.Since(began)
			if f.failed != (c.took == Patience) || took < c.took || took > c.took+10*time.Millisecond {
				t.Errorf("%s: failed: %v, after %v", name, f.failed, took)
			}
			time.Sleep(Patience) // the end of AfterFunc
		})
	}
}

package wait

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A fake is a test that may fail.
type fake struct {
	testing.TB
	failed string
}

func (f *fake) Helper() {}

func (f *fake) Fatalf(format string, args ...any) {
	f.failed = format
	runtime.Goexit()
}

// try calls f with a test that may fail, and returns the failure and the time that f took.
func try(f func(t testing.TB)) (failed string, took time.Duration) {
	t, began := new(fake), time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(t)
	}()
	<-done
	return t.failed, time.Since(began)
}

func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var later atomic.Bool
		time.AfterFunc(time.Minute, func() { later.Store(true) })
		values, end := make(chan int), make(chan int)
		go func() {
			time.Sleep(time.Minute)
			values <- 7
		}()
		go func() {
			time.Sleep(time.Hour)
			close(end)
		}()
		for _, c := range []struct {
			name  string
			f     func(t testing.TB)
			fails bool
			took  time.Duration // at least; at most a pause more
		}{
			{"true at once", func(t testing.TB) { Until(t, "", func() bool { return true }) }, false, 0},
			{"true in a minute", func(t testing.TB) { Until(t, "", later.Load) }, false, time.Minute},
			{"never true", func(t testing.TB) { Until(t, "", func() bool { return false }) }, true, Patience},
			{"a value", func(t testing.TB) {
				if v, ok := Receive(t, "", values); v != 7 || !ok {
					t.Fatalf("another value")
				}
			}, false, 0},
			{"no value", func(t testing.TB) { Receive(t, "", end) }, true, Patience},
			{"not closed", func(t testing.TB) { Closed(t, "", end) }, true, Patience},
			{"closed later", func(t testing.TB) {
				time.Sleep(time.Hour - Patience)
				Closed(t, "", end)
			}, false, 0},
			{"closed", func(t testing.TB) {
				if _, ok := Receive(t, "", end); ok {
					t.Fatalf("a value")
				}
			}, false, 0},
		} {
			failed, took := try(c.f)
			if (failed != "") != c.fails || strings.Contains(failed, "another") || took < c.took || c.took > 0 && took > c.took+10*time.Millisecond {
				t.Errorf("%s: %q after %v", c.name, failed, took)
			}
		}
	})
}

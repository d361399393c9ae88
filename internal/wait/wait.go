// Package wait is for tests: the functions wait until something comes true, and fail the test if it
// does not. A wait ends as soon as the thing is true, so its bound costs nothing but in a failure,
// and is generous: a bound that a busy machine reaches is a defect of the test.
package wait

import (
	"testing"
	"time"
)

// Patience is the bound of each wait, far longer than anything takes in a test.
const Patience = 2 * time.Minute

// Until waits until done reports true, and fails the test after [Patience]. The text what completes
// the sentence "it never came true that".
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	if !For(done) {
		t.Fatalf("it never came true that %s", what)
	}
}

// For waits until done reports true, for at most [Patience], and reports whether it did.
func For(done func() bool) bool {
	const longest = 10 * time.Millisecond
	pause := 50 * time.Microsecond
	for end := time.Now().Add(Patience); !done(); pause = min(2*pause, longest) {
		if !time.Now().Before(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// Receive waits for a value of the channel, or for its end, and fails the test after [Patience]. If
// ok is false, the channel is closed. The text what names what the channel brings.
func Receive[T any](t testing.TB, what string, c <-chan T) (value T, ok bool) {
	t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case value, ok = <-c:
	case <-timer.C:
		t.Fatalf("it never came: %s", what)
	}
	return value, ok
}

// Closed waits until the channel is closed, and drops its values. The text what completes the
// sentence "it never came true that".
func Closed[T any](t testing.TB, what string, c <-chan T) {
	t.Helper()
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	for {
		select {
		case _, ok := <-c:
			if !ok {
				return
			}
		case <-timer.C:
			t.Fatalf("it never came true that %s", what)
		}
	}
}

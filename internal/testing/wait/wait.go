// Package wait has the waits of tests. A wait ends as soon as its condition is true. Only a test that
// fails reaches the bound, so the bound is generous: a busy machine must not reach it.
package wait

import (
	"testing"
	"time"
)

// Patience is the bound of each wait, far longer than anything takes in a test.
const Patience = 2 * time.Minute

// Until waits until done reports true, and fails the test after [Patience]. The failure says "it never
// came true that", and then the text what.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	if !For(done) {
		t.Fatalf("it never came true that %s", what)
	}
}

// For waits until done reports true, and reports whether done was true before the end of [Patience].
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

// Receive waits for a value of the channel, and fails the test after [Patience]. If ok is false, the
// channel is closed. The text what names the value.
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

// Closed waits until the channel is closed, and drops the values of the channel. Closed fails the test
// as [Until] does.
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

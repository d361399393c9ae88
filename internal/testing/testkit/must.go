package testkit

import "testing"

// Must returns v, and panics with the error if there is one: a step of a test without which the rest
// makes no sense.
func Must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// OK ends the test with the error if there is one.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

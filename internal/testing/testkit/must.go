package testkit

import (
	"errors"
	"fmt"
	"testing"
)

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

// Err returns the error of a call, and drops the value.
func Err[V any](_ V, err error) error { return err }

// Is fails the test unless err is the error want. The format and its arguments say of what.
func Is(t testing.TB, err, want error, format string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v; want an error that is %q", fmt.Sprintf(format, args...), err, want)
	}
}

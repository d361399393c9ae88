package testkit

import (
	"errors"
	"testing"
)

// A Result is what a call returned.
type Result[T comparable] struct {
	value T
	err   error
}

// Call returns the result of a call: Call(f()).
func Call[T comparable](value T, err error) Result[T] { return Result[T]{value, err} }

// Gives checks that the call returned the value, and no error.
func (r Result[T]) Gives(t testing.TB, want T) {
	if r.err != nil || r.value != want {
		t.Helper() // costs much, and tests call Gives in long loops
		t.Errorf("%v, %v; want %v", r.value, r.err, want)
	}
}

// Fails checks that the call returned an error of the kind beside the zero value.
func (r Result[T]) Fails(t testing.TB, kind error) {
	if zero := *new(T); !errors.Is(r.err, kind) || r.value != zero {
		t.Helper()
		t.Errorf("%v, %v; want the error %v", r.value, r.err, kind)
	}
}

// Same checks that a value is the expected value.
func Same[T comparable](t testing.TB, got, want T) {
	if got != want {
		t.Helper()
		t.Errorf("%v, want %v", got, want)
	}
}

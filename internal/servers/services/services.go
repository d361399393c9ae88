// Package services is for tests that need a server, or a program, of the machine.
package services

import (
	"errors"
	"os"
	"testing"
)

// Missing ends a test that does not find what the test needs. Missing skips the test, or fails the
// test if FIRN_REQUIRE_SERVICES=1. The text says what is missing, and how the test finds it.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("FIRN_REQUIRE_SERVICES") == "1" {
		t.Fatalf(format+" (and FIRN_REQUIRE_SERVICES=1)", args...)
	}
	t.Skipf(format, args...)
}

// Need fails a test if there is an error. If the error is missing, Need calls Missing instead: a
// program is not installed.
func Need(t testing.TB, err, missing error) {
	t.Helper()
	if errors.Is(err, missing) {
		Missing(t, "the test starts servers of its own: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Package services is for tests that need a server or a program of the machine, or much time.
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

// Full skips a test that only the full check runs (.ci/run full), because the test takes long or starts
// a farm of servers. FIRN_FULL=1 makes the test run.
func Full(t testing.TB) {
	t.Helper()
	if !InFull() {
		t.Skip("part of the full check: set FIRN_FULL=1 to run the test")
	}
}

// InFull reports whether the full check runs. Tests then may try more of the same.
func InFull() bool { return os.Getenv("FIRN_FULL") == "1" }

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

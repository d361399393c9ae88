// Package services is for tests that need a server, or a program, of the machine.
package services

import (
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

// Package services is for tests that need a server or a program of the machine, or much time. It knows
// where the servers are that all tests share.
package services

import (
	"cmp"
	"errors"
	"os"
	"testing"
)

// A Server is a server that tests share. A variable of the environment has the address. Without the
// variable the server is on this machine, at the port of its kind.
type Server struct{ name, variable, standard string }

// The servers, and the forms of their addresses.
var (
	PostgreSQL = Server{"PostgreSQL", "FIRN_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/test"} // as package pgx
	MariaDB    = Server{"MariaDB", "FIRN_TEST_MYSQL", "root@tcp(127.0.0.1:3306)/test"}                 // as package mysql
	Redis      = Server{"Redis", "FIRN_TEST_REDIS", "redis://127.0.0.1:6379/0"}                        // a URL
)

// Address returns where the server is.
func (s Server) Address() string { return cmp.Or(os.Getenv(s.variable), s.standard) }

// Missing ends a test that did not find the server, as the function [Missing]. The error says why.
func (s Server) Missing(t testing.TB, err error) {
	t.Helper()
	Missing(t, "%s is not there; set %s to where it is: %v", s.name, s.variable, err)
}

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

// Package pgtest runs PostgreSQL servers of its own, on ports of loopback that are free and in
// directories that go with them, so that a test can crash them, stop them and have them replicate.
// It finds the programs below /usr/lib/postgresql, or else in PATH. It is for tests, on Linux.
package pgtest

import "errors"

// ErrMissing says that a program is not installed. It names the program.
var ErrMissing = errors.New("not installed")

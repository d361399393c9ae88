// Package pgtest runs PostgreSQL servers for tests, on Linux. Each server has a free port of
// loopback and a new directory. A test can crash and stop a server, and add a standby. The programs
// are below /usr/lib/postgresql, or in PATH.
package pgtest

import "errors"

// ErrMissing reports that a program is not installed. The text of the error names the program.
var ErrMissing = errors.New("not installed")

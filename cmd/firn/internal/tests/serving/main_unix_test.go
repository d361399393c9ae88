//go:build unix

// Package serving runs firn serve as a process, with real clients.
package serving

import (
	"net"
	"os"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/root"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// asFirn is the variable that makes the binary of the tests the program firn.
const asFirn = "FIRN_TEST_AS_FIRN"

// program is the binary of the tests.
var program string

func TestMain(m *testing.M) {
	if os.Getenv(asFirn) != "" {
		os.Exit(root.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else each process ends a second late
	}
	var err error
	if program, err = os.Executable(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	return ln
}

func portOf(ln net.Listener) int { return ln.Addr().(*net.TCPAddr).Port }

//go:build !(linux || darwin || freebsd || openbsd || dragonfly || windows)

package filelease

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

func TestUnsupported(t *testing.T) {
	testkit.Is(t, testkit.Err(Open(t.TempDir())), driver.ErrUnsafe, "Open")
}

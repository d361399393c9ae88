//go:build !(linux || darwin || freebsd || openbsd || dragonfly || windows)

package filelease

import (
	"errors"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

func TestUnsupported(t *testing.T) {
	if _, err := Open(t.TempDir()); !errors.Is(err, driver.ErrUnsafe) {
		t.Errorf("Open: %v", err)
	}
}

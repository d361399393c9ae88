//go:build !race

package clock

import (
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
)

func TestAllocations(t *testing.T) {
	testkit.Same(t, testing.AllocsPerRun(20, func() { sleep(100 * time.Microsecond) }), 0)
}

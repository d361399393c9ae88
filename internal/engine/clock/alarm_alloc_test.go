//go:build !race

package clock

import (
	"testing"
	"time"
)

func TestAllocations(t *testing.T) {
	if got := testing.AllocsPerRun(20, func() { sleep(100 * time.Microsecond) }); got != 0 {
		t.Errorf("a sleep allocates %v times", got)
	}
}

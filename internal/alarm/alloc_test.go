//go:build !race

package alarm

import (
	"testing"
	"time"
)

func TestAllocations(t *testing.T) {
	if got := testing.AllocsPerRun(20, func() { Sleep(100 * time.Microsecond) }); got != 0 {
		t.Errorf("a sleep allocates %v times", got)
	}
}

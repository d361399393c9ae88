// Package turn lets tests of processes take turns. The go command runs the tests of several packages
// at once, and more packages than the machine has processors where most tests wait. At most one package for
// each processor has tests of many processes under way, which have leases to renew in time.
package turn

import (
	"sync"
	"testing"
)

var (
	mu   sync.Mutex
	held int // tests of this process that have the turn
	end  func()
)

// Take waits for the turn of this process, and keeps the turn until the test ends. Tests of one
// process have the turn together: t.Parallel says whether they run at once. A parallel test calls
// Take after t.Parallel. If the process ends, the turn ends too.
func Take(t testing.TB) {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if held == 0 {
		var err error
		if end, err = lock(); err != nil {
			t.Fatalf("waiting for the turn: %v", err)
		}
	}
	held++
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if held--; held == 0 {
			end()
		}
	})
}

package testkit

import (
	"os"
	"os/exec"
	"sync"
	"testing"
)

// StartChildren starts programs until the test ends, two at a time. After the fork, a child has all
// files of its parent until the child runs its program.
func StartChildren(t testing.TB) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					exec.Command(program, "-test.run=^$").Run()
				}
			}
		})
	}
	t.Cleanup(func() {
		close(done)
		all.Wait()
	})
}

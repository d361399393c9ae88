package turn

import (
	"errors"
	"syscall"
	"testing"
)

// taken reports whether a process has the turn.
func taken(t *testing.T) bool {
	t.Helper()
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err != nil
}

// The tests of a process have the turn together, until the last of them ends.
func TestTake(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // tests of other packages take turns meanwhile
	t.Run("together", func(t *testing.T) {
		Take(t)
		t.Run("another test", func(t *testing.T) { Take(t) })
		if !taken(t) {
			t.Error("the turn ended with another test")
		}
	})
	if taken(t) {
		t.Error("the turn did not end with the tests")
	}
}

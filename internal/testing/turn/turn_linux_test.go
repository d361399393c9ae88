package turn

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// asHolder is the variable of a process that holds the turn until its input ends.
const asHolder = "FIRN_TURN_TEST_HOLDER"

func TestMain(m *testing.M) {
	if os.Getenv(asHolder) == "" {
		os.Exit(m.Run())
	}
	if _, err := lock(); err != nil {
		panic(err)
	}
	fmt.Println("mine")
	io.Copy(io.Discard, os.Stdin)
}

// taken reports whether a process has the turn.
func taken(t *testing.T) bool {
	t.Helper()
	f, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return true
	case err != nil:
		t.Fatal(err)
	}
	return false
}

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
	t.Run("after another process", func(t *testing.T) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asHolder+"=1")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "mine\n" {
			t.Fatalf("%q, %v", line, err)
		}
		if !taken(t) {
			t.Error("another process has no turn")
		}
		cmd.Process.Kill()
		Take(t)
		if !taken(t) {
			t.Error("the turn of a killed process did not come")
		}
	})
}

package loopback

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
)

// A port that was chosen is not chosen again, by this process or another, before anybody listens on the
// port. Only Linux has names that end with the process.
func TestReservation(t *testing.T) {
	if env := os.Getenv("FIRN_LOOPBACK_PORT"); env != "" {
		port, err := strconv.Atoi(env)
		if err != nil {
			t.Fatal(err)
		}
		if reserve(port) {
			t.Errorf("port %d was reserved twice", port)
		}
		return
	}
	port, err := Port()
	if err != nil {
		t.Fatal(err)
	}
	if reserve(port) {
		t.Errorf("port %d was reserved twice", port)
	}
	runtime.GC() // closes listeners that nothing refers to
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestReservation$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("FIRN_LOOPBACK_PORT=%d", port))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("another process: %v\n%s", err, out)
	}
}

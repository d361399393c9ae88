package loopback

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/firn-id/firn/internal/testkit"
	"github.com/firn-id/firn/internal/wait"
)

func TestPorts(t *testing.T) {
	// Another process may take a port that was free, so the test may try again.
	wait.Until(t, "all ports are free", func() bool {
		ports, err := Ports(100)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Sort(ports); len(slices.Compact(slices.Clone(ports))) != 100 {
			t.Fatalf("not 100 different ports: %d", ports)
		}
		for _, port := range ports {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				t.Log(err)
				return false
			}
			defer l.Close()
		}
		return true
	})
	if _, err := Ports(30000); err == nil {
		t.Error("more ports than there are")
	}
}

// Nobody listens on a port when it is returned: neither does a child that is being made meanwhile, which has all of its
// parent's listeners until it runs a program.
func TestPortsBesideChildren(t *testing.T) {
	testkit.StartChildren(t)
	for range 3000 {
		port, err := Port()
		if err != nil {
			t.Error(err)
			break
		}
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			t.Errorf("port %d has a listener", port)
			break
		}
	}
}

// A port that was chosen, but that nobody listens on yet, is not chosen again: neither by this process
// nor by another.
func TestReservation(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has names that end with the process")
	}
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

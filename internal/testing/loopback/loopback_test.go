package loopback

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
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

// Nobody listens on a port that Port returns. A child that is being made has all listeners of its parent,
// until the child runs a program: Port waits for the child.
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

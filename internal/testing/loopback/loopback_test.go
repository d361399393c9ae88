package loopback

import (
	"fmt"
	"net"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

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

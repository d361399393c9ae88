// Package loopback chooses ports of 127.0.0.1 for servers that tests start.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"

	"github.com/firn-id/firn/internal/wait"
)

// Ports returns n ports that nobody listens on. The ports are below the ports that systems give to
// connections, and to listeners on port 0. Otherwise a connection could take the port of a server
// before the server starts, or while the server is down.
func Ports(n int) ([]int, error) {
	ports, err := choose(n)
	for _, port := range ports {
		if err := awaitRefusal(port); err != nil {
			return nil, err
		}
	}
	return ports, err
}

func choose(n int) ([]int, error) {
	var ports []int
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		l, err := net.Listen("tcp", address(port))
		if err != nil {
			continue
		}
		defer l.Close() // after all were chosen
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("there are no free ports")
}

// awaitRefusal waits until a port refuses connections. A child process that was forked before a
// listener was closed keeps the listener until the child runs its program.
func awaitRefusal(port int) error {
	refused := wait.For(func() bool {
		c, err := net.DialTimeout("tcp", address(port), wait.Patience)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	if !refused {
		return fmt.Errorf("port %d was taken at once", port)
	}
	return nil
}

func address(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// Port returns one such port.
func Port() (int, error) {
	ports, err := Ports(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

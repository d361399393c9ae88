// Package loopback has ports of 127.0.0.1 for servers that tests start.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
)

// Ports returns n ports that nobody listens on. They are below those that systems give to connections and to listeners
// without a wish: one of those could have a server's port before the server starts, or while it is down.
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

// awaitRefusal waits until a port refuses connections. A closed listener lives on in a child process that was forked
// before, until the child runs its program.
func awaitRefusal(port int) error {
	for range 1000 {
		c, err := net.DialTimeout("tcp", address(port), 100*time.Millisecond)
		if err != nil {
			return nil
		}
		c.Close()
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("port %d was taken at once", port)
}

func address(port int) string {
	return fmt.Sprintf("127.0.0.1:%d", port)
}

// Port returns one.
func Port() (int, error) {
	ports, err := Ports(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

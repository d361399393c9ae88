// Package loopback has ports of 127.0.0.1 for servers that tests start.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports returns n ports that nobody listens on. They are below those that systems give to connections and to listeners
// without a wish: one of those could have a server's port before the server starts, or while it is down.
func Ports(n int) ([]int, error) {
	var ports []int
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
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

// Port returns one.
func Port() (int, error) {
	ports, err := Ports(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

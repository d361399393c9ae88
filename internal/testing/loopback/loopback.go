// Package loopback chooses ports of 127.0.0.1 for servers that tests start.
package loopback

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"

	"github.com/firn-id/firn/internal/testing/wait"
)

// Ports returns n ports that nobody listens on. On Linux, no other call returns one of the ports while
// this process runs, until this process has chosen 1000 more. The ports are below the ports that systems
// give to connections, and to listeners on port 0. Otherwise a connection could take the port of a
// server before the server starts, or while the server is down.
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
		if !reserve(port) {
			continue
		}
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("there are no free ports")
}

// reservations are the listeners of the last calls of reserve, the oldest first.
var reservations struct {
	sync.Mutex
	all []net.Listener
}

// reserve takes a port for this process, and reports whether the port was free. Without a reservation
// two processes can choose the same port before either has started a server. The reservation is a name
// that Linux frees when the process ends. Other systems have no such names.
func reserve(port int) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	l, err := net.Listen("unix", fmt.Sprintf("@firn-test-port-%d", port))
	if err != nil {
		return false
	}
	reservations.Lock()
	defer reservations.Unlock()
	reservations.all = append(reservations.all, l)
	if len(reservations.all) > 1000 {
		reservations.all[0].Close()
		reservations.all = reservations.all[1:]
	}
	return true
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

// Proxy listens on a port of loopback. It calls serve for each connection, with a connection to the
// server, and closes both when serve returns. The caller closes the listener.
func Proxy(server string, serve func(client, server net.Conn)) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				to, err := net.Dial("tcp", server)
				if err != nil {
					return
				}
				defer to.Close()
				serve(client, to)
			}()
		}
	}()
	return l, nil
}

// Port returns one such port.
func Port() (int, error) {
	ports, err := Ports(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

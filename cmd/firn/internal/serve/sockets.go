package serve

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/firn-id/firn/server"
)

// sockets are the listening sockets that systemd has passed, and that no address has taken yet. systemd keeps them
// open over restarts: connections wait there, and none is refused or reset.
type sockets struct{ passed []net.Listener }

func newSockets() (*sockets, error) {
	passed, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("sockets of systemd: %w", err)
	}
	return &sockets{slices.DeleteFunc(passed, func(ln net.Listener) bool { return ln == nil })}, nil
}

// open returns the socket of an address: systemd's, or a new one.
func (s *sockets) open(network, address string) (net.Listener, error) {
	i := slices.IndexFunc(s.passed, func(ln net.Listener) bool { return same(ln.Addr(), network, address) })
	if i < 0 {
		return server.Listen(network, address)
	}
	ln := s.passed[i]
	s.passed = slices.Delete(s.passed, i, i+1)
	return ln, nil
}

// same reports whether a socket has an address of the configuration.
func same(a net.Addr, network, address string) bool {
	have, ok := a.(*net.TCPAddr)
	if !ok || network != "tcp" {
		return a.Network() == network && a.String() == address
	}
	want, err := net.ResolveTCPAddr(network, address)
	if err != nil || want.Port != have.Port {
		return false
	}
	everywhere := func(ip net.IP) bool { return ip == nil || ip.IsUnspecified() }
	return want.IP.Equal(have.IP) || everywhere(want.IP) && everywhere(have.IP)
}

// ready tells systemd that the server serves. A socket of systemd that no address has taken is an error.
func (s *sockets) ready() error {
	var unused []string
	for _, ln := range s.passed {
		unused = append(unused, ln.Addr().String())
	}
	if len(unused) > 0 {
		return fmt.Errorf("systemd has passed sockets that firn serve does not use: %s: name their addresses by --listen, --resp or --unix", strings.Join(unused, ", "))
	}
	_, err := daemon.SdNotify(false, daemon.SdNotifyReady)
	return err
}

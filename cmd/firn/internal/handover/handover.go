// Package handover gives listening sockets from process to process: from systemd to firn serve, and from a firn serve to
// its successor. A socket that is handed over is never closed: connections that no process has accepted yet wait in the
// socket, and none is reset.
package handover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cloudflare/tableflip"
	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
)

// A Handover is the sockets of this process. A process has one Handover.
type Handover struct {
	upgrader *tableflip.Upgrader // nil where the system has no handover
	listen   func(network, address string) (net.Listener, error)

	mu     sync.Mutex
	passed []net.Listener // by systemd, and not taken yet
}

// New takes over the sockets that systemd or a predecessor has passed. listen opens all others.
func New(listen func(network, address string) (net.Listener, error)) (*Handover, error) {
	h := &Handover{listen: listen}
	passed, err := activation.Listeners()
	if err != nil {
		return nil, fmt.Errorf("sockets of systemd: %w", err)
	}
	h.passed = slices.DeleteFunc(passed, func(ln net.Listener) bool { return ln == nil })
	h.upgrader, err = tableflip.New(tableflip.Options{})
	if err != nil && !errors.Is(err, tableflip.ErrNotSupported) {
		return nil, err
	}
	return h, nil
}

// systemd begins the networks of systemd's sockets in the names that a predecessor gives to a successor. The upgrader
// removes the file of a socket when the last process stops, but only if the network is unix: systemd's files stay, since
// systemd goes on to listen there.
const systemd = "systemd "

// Listen returns the socket of an address: the predecessor's, systemd's, or a new one.
func (h *Handover) Listen(network, address string) (net.Listener, error) {
	if h.upgrader == nil {
		return h.listen(network, address)
	}
	for _, of := range []string{network, systemd + network} {
		if ln, err := h.upgrader.Listener(of, address); ln != nil || err != nil {
			return ln, err
		}
	}
	of, ln := systemd+network, h.take(network, address)
	if ln == nil {
		var err error
		if ln, err = h.listen(network, address); err != nil {
			return nil, err
		}
		of = network
	}
	socket, ok := ln.(tableflip.Listener)
	if !ok {
		ln.Close()
		return nil, fmt.Errorf("a successor cannot take over a %T", ln)
	}
	if err := h.upgrader.AddListener(of, address, socket); err != nil {
		ln.Close()
		return nil, err
	}
	return ln, nil
}

// take returns the socket that systemd has passed for an address, or nil.
func (h *Handover) take(network, address string) net.Listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.passed, func(ln net.Listener) bool { return same(ln.Addr(), network, address) })
	if i < 0 {
		return nil
	}
	ln := h.passed[i]
	h.passed = slices.Delete(h.passed, i, i+1)
	return ln
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

// unused returns an error if systemd has passed a socket that nothing takes.
func (h *Handover) unused() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var unused []string
	for _, ln := range h.passed {
		unused = append(unused, ln.Addr().String())
	}
	if len(unused) == 0 {
		return nil
	}
	return fmt.Errorf("systemd has passed sockets that firn serve does not use: %s: name their addresses by --listen, --resp or --unix", strings.Join(unused, ", "))
}

// Ready tells systemd and the predecessor that this process serves. The predecessor then stops. Call Ready when all
// sockets are open: a socket of systemd that nothing takes is an error.
func (h *Handover) Ready() error {
	if err := h.unused(); err != nil {
		return err
	}
	// The service would end with a predecessor that systemd takes for the main process.
	if _, err := daemon.SdNotify(false, fmt.Sprintf("MAINPID=%d", os.Getpid())); err != nil {
		return err
	}
	if h.upgrader != nil {
		if err := h.upgrader.Ready(); err != nil {
			return err
		}
	}
	_, err := daemon.SdNotify(false, daemon.SdNotifyReady)
	return err
}

// Succeed starts a successor: the same program, with the same arguments. Succeed returns when the successor serves, or
// an error if the successor has ended before. This process goes on to serve after an error. At most two processes have
// the sockets: Succeed first waits for the end of this process's own predecessor.
func (h *Handover) Succeed(ctx context.Context) error {
	if h.upgrader == nil {
		return tableflip.ErrNotSupported
	}
	if err := h.upgrader.WaitForParent(ctx); err != nil {
		return err
	}
	// The upgrader learns of the predecessor's end in two places, and in the second perhaps a moment later.
	for err := h.upgrader.Upgrade(); ; err = h.upgrader.Upgrade() {
		if err == nil || err.Error() != early {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// early is the error of an upgrader that does not know of the predecessor's end yet.
const early = "parent hasn't exited"

// Succeeded returns a channel that is closed when a successor serves.
func (h *Handover) Succeeded() <-chan struct{} {
	if h.upgrader == nil {
		return nil
	}
	return h.upgrader.Exit()
}

// Stopping tells systemd that this process ends without a successor. When Stopping returns, the files of sockets are
// removed, except systemd's.
func (h *Handover) Stopping() {
	select {
	case <-h.Succeeded():
		return
	default:
	}
	daemon.SdNotify(false, daemon.SdNotifyStopping)
	if h.upgrader != nil {
		h.upgrader.Stop()
		<-h.upgrader.Exit() // the upgrader has removed the files
	}
}

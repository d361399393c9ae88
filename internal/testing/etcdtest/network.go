package etcdtest

import (
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A network relays the connections between members. All peers know a member by the same address, at
// which the network listens. The network looks up the process at the other end of a connection, and
// so knows the member that connects.
//
// The network does not close the connections of a member that is cut off. Nothing passes, as if all
// packets were lost.
type network struct {
	gates []net.Listener
	peers func(i int) string // where members listen to their peers
	pids  func() []int

	mu      sync.Mutex
	changed *sync.Cond
	cut     map[int]bool // the members that are cut off
	conns   map[net.Conn]bool
	closed  bool
}

func newNetwork(n int, peers func(i int) string, pids func() []int) (*network, error) {
	w := &network{peers: peers, pids: pids, cut: make(map[int]bool), conns: make(map[net.Conn]bool)}
	w.changed = sync.NewCond(&w.mu)
	for i := range n {
		gate, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			w.close()
			return nil, err
		}
		w.gates = append(w.gates, gate)
		go w.serve(gate, i)
	}
	return w, nil
}

func (w *network) address(i int) string { return w.gates[i].Addr().String() }

func (w *network) isolate(member int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut[member] = true
}

func (w *network) heal() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.cut)
	w.changed.Broadcast()
}

// isolated reports whether a member is cut off.
func (w *network) isolated(member int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut[member]
}

// pass waits until neither member is cut off, and returns false if the network is closed first.
func (w *network) pass(from, to int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for (w.cut[from] || w.cut[to]) && !w.closed {
		w.changed.Wait()
	}
	return !w.closed
}

// keep remembers a connection, which is closed with the network. keep returns false if the network
// is closed already.
func (w *network) keep(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		c.Close()
		return false
	}
	w.conns[c] = true
	return true
}

func (w *network) drop(c net.Conn) {
	c.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
}

func (w *network) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.changed.Broadcast()
	for _, gate := range w.gates {
		gate.Close()
	}
	for c := range w.conns {
		c.Close()
	}
}

func (w *network) serve(gate net.Listener, to int) {
	for {
		c, err := gate.Accept()
		if err != nil {
			return
		}
		if w.keep(c) {
			go w.relay(c, to)
		}
	}
}

// relay copies bytes in both directions while neither member is cut off.
func (w *network) relay(c net.Conn, to int) {
	defer w.drop(c)
	from, err := w.source(c)
	if err != nil {
		return // the process has ended
	}
	if !w.pass(from, to) {
		return
	}
	d, err := net.Dial("tcp", w.peers(to))
	if err != nil || !w.keep(d) {
		return
	}
	defer w.drop(d)
	done := make(chan struct{}, 2)
	for _, ends := range [][2]net.Conn{{c, d}, {d, c}} {
		go func() {
			w.copy(ends[1], ends[0], func() bool { return w.pass(from, to) })
			done <- struct{}{}
		}()
	}
	<-done
}

func (w *network) copy(to io.Writer, from io.Reader, pass func() bool) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if !pass() {
			return
		}
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// source returns the number of the member at the other end of a connection.
func (w *network) source(c net.Conn) (int, error) {
	for range 10 {
		inode, err := inodeOf(c.RemoteAddr().(*net.TCPAddr), c.LocalAddr().(*net.TCPAddr))
		if err != nil {
			return 0, err
		}
		for i, pid := range w.pids() {
			if pid != 0 && has(pid, inode) {
				return i, nil
			}
		}
		time.Sleep(time.Millisecond) // the member may be starting
	}
	return 0, fmt.Errorf("%s is not a member", c.RemoteAddr())
}

// inodeOf returns the inode of the socket at an end of a connection, from Linux's table of sockets.
func inodeOf(local, remote *net.TCPAddr) (string, error) {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(table)) {
		// sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
		f := strings.Fields(line)
		if len(f) > 9 && port(f[1]) == local.Port && port(f[2]) == remote.Port {
			return f[9], nil
		}
	}
	return "", fmt.Errorf("%v is gone", local)
}

// port returns the port of an address in the table, or -1.
func port(address string) int {
	_, hex, _ := strings.Cut(address, ":")
	n, err := strconv.ParseUint(hex, 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// has reports whether a process has a socket.
func has(pid int, inode string) bool {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, f := range files {
		if to, err := os.Readlink(dir + "/" + f.Name()); err == nil && to == "socket:["+inode+"]" {
			return true
		}
	}
	return false
}

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

// A network is between the members. All of a member's peers know it by one address, where the network
// listens for it; from which member a connection comes it finds out by the process that has its other
// end. So each of the links, one for each member and each of its peers, can be cut by itself.
//
// What is cut is not closed: nothing passes, as if the packets were lost, and nobody is told.
type network struct {
	gates []net.Listener
	peers func(i int) string // where members listen to their peers
	pids  func() []int

	mu      sync.Mutex
	changed *sync.Cond
	cut     map[link]bool
	conns   map[net.Conn]bool
	closed  bool
}

// A link is the connections that one member makes to another.
type link struct{ from, to int }

func newNetwork(n int, peers func(i int) string, pids func() []int) (*network, error) {
	w := &network{peers: peers, pids: pids, cut: make(map[link]bool), conns: make(map[net.Conn]bool)}
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

func (w *network) set(from, to int, open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut[link{from, to}] = !open
	w.changed.Broadcast()
}

func (w *network) open(from, to int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.cut[link{from, to}]
}

// pass waits until the link is whole, and returns false if it will not be.
func (w *network) pass(l link) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.cut[l] && !w.closed {
		w.changed.Wait()
	}
	return !w.closed
}

// keep notes a connection, to be closed at the end, and returns false if that has come.
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

// relay passes on what comes in either direction, as long as the link is whole.
func (w *network) relay(c net.Conn, to int) {
	defer w.drop(c)
	from, err := w.source(c)
	if err != nil {
		return // whoever it was is gone
	}
	l := link{from, to}
	if !w.pass(l) {
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
			w.copy(ends[1], ends[0], l)
			done <- struct{}{}
		}()
	}
	<-done
}

func (w *network) copy(to io.Writer, from io.Reader, l link) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if !w.pass(l) {
			return
		}
		if _, failed := to.Write(b[:n]); err != nil || failed != nil {
			return
		}
	}
}

// source returns which member has the other end of a connection.
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
		time.Sleep(time.Millisecond) // it may be one that is just being started
	}
	return 0, fmt.Errorf("%s is no member", c.RemoteAddr())
}

// inodeOf returns which socket a connection's end on this machine is, from Linux's table of them.
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

// port returns the port of an address of that table, or -1.
func port(address string) int {
	_, hex, _ := strings.Cut(address, ":")
	n, err := strconv.ParseUint(hex, 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// has tells whether a process has a socket.
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

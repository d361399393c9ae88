package serving

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// restarts is how often a server is restarted under load.
func restarts() int {
	if services.InFull() && !testing.Short() {
		return 200
	}
	return 15
}

// A service is what systemd is for firn serve: it passes sockets, and learns when the process is ready.
type service struct {
	t      *testing.T
	ready  *net.UnixConn
	config []string // arguments
	env    []string
	last   *os.Process
	output string // a file
}

func newService(t *testing.T, config ...string) *service {
	t.Helper()
	s := &service{t: t, output: filepath.Join(t.TempDir(), "log")}
	path := filepath.Join(t.TempDir(), "notify")
	var err error
	if s.ready, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	s.config = append([]string{"serve", "--state", filepath.Join(t.TempDir(), "pools")}, config...)
	s.env = append(environment(), "NOTIFY_SOCKET="+path)
	t.Cleanup(func() {
		if s.last != nil {
			s.last.Kill() // fails if the process has ended
		}
		s.ready.Close()
		if t.Failed() {
			log, _ := os.ReadFile(s.output)
			t.Logf("%s", log[max(0, len(log)-4096):])
		}
	})
	return s
}

// start starts a process with the sockets that systemd passes, and waits until the process is ready.
func (s *service) start(sockets ...*os.File) *exec.Cmd {
	s.t.Helper()
	// systemd names the process that the sockets are for. A shell knows its number, and becomes firn.
	cmd := exec.Command("sh", append([]string{"-c", `if [ "$LISTEN_FDS" -gt 0 ]; then export LISTEN_PID=$$; fi; exec "$@"`, "sh", program}, s.config...)...)
	cmd.Env = append(s.env, "LISTEN_FDS="+strconv.Itoa(len(sockets)))
	cmd.ExtraFiles = sockets
	log, err := os.OpenFile(s.output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	testkit.OK(s.t, err)
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	testkit.OK(s.t, cmd.Start())
	s.last = cmd.Process
	s.wait("READY=1")
	return cmd
}

// wait waits for a state that a process tells systemd.
func (s *service) wait(state string) {
	s.t.Helper()
	message := make([]byte, 4096)
	s.ready.SetReadDeadline(time.Now().Add(wait.Patience))
	for {
		n, err := s.ready.Read(message)
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", state, err)
		}
		if strings.TrimSpace(string(message[:n])) == state {
			return
		}
	}
}

// A crowd is a number of clients, and their failures.
type crowd struct {
	address  string
	answers  atomic.Int64
	ends     atomic.Int64 // of connections between two requests, without an answer
	running  sync.WaitGroup
	mu       sync.Mutex
	failures []error
}

func (c *crowd) fail(what string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, fmt.Errorf("%s: %w", what, err))
}

// clients is how many clients a crowd has.
const clients = 9

// begin starts the clients, which go on until ctx ends.
func (c *crowd) begin(ctx context.Context) {
	for range clients / 3 {
		c.running.Go(func() { c.fresh(ctx, "RESP", c.incr) })
		c.running.Go(func() { c.fresh(ctx, "HTTP", c.get) })
		c.running.Go(func() { c.kept(ctx) })
	}
}

// fresh makes one request for each connection. Each request has to be answered.
func (c *crowd) fresh(ctx context.Context, what string, request func(conn net.Conn, in *bufio.Reader) error) {
	for ctx.Err() == nil {
		conn, err := net.DialTimeout("tcp", c.address, wait.Patience)
		if err != nil {
			c.fail(what, err)
			continue
		}
		conn.SetDeadline(time.Now().Add(wait.Patience))
		if err := request(conn, bufio.NewReader(conn)); err != nil {
			c.fail(what, err)
		} else {
			c.answers.Add(1)
		}
		conn.Close()
		time.Sleep(time.Millisecond)
	}
}

func (c *crowd) incr(conn net.Conn, in *bufio.Reader) error {
	if _, err := io.WriteString(conn, "*2\r\n$4\r\nINCR\r\n$9\r\nnanoflake\r\n"); err != nil {
		return err
	}
	line, err := in.ReadString('\n')
	if err == nil && line[0] != ':' {
		err = errors.New(line)
	}
	return err
}

func (c *crowd) get(conn net.Conn, in *bufio.Reader) error {
	if _, err := io.WriteString(conn, "GET /v1/generators/nanoflake/ids HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return err
}

// kept makes many requests for each connection. The server ends the connection when it stops: then the client sees the
// end, and no reset.
func (c *crowd) kept(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := net.DialTimeout("tcp", c.address, wait.Patience)
		if err != nil {
			c.fail("kept", err)
			continue
		}
		in := bufio.NewReader(conn)
		for ctx.Err() == nil {
			conn.SetDeadline(time.Now().Add(wait.Patience))
			err := c.incr(conn, in)
			if errors.Is(err, io.EOF) {
				c.ends.Add(1)
				break
			}
			if err != nil {
				c.fail("kept", err)
				break
			}
			c.answers.Add(1)
			time.Sleep(time.Millisecond)
		}
		conn.Close()
	}
}

// end ends the clients, and reports what they have suffered.
func (c *crowd) end(t *testing.T, cancel context.CancelFunc) {
	t.Helper()
	cancel()
	c.running.Wait()
	t.Logf("%d answers, %d ends of kept connections, %d failures", c.answers.Load(), c.ends.Load(), len(c.failures))
	if c.answers.Load() == 0 {
		t.Error("no answers")
	}
	for _, err := range c.failures[:min(len(c.failures), 10)] {
		t.Error(err)
	}
}

// A server whose socket systemd keeps is ended and started again: connections wait in the socket meanwhile. Each server
// answers before it is ended. One that has no worker yet, on a busy machine, has nothing to answer with.
func TestSystemdSockets(t *testing.T) {
	ln := listen(t)
	defer ln.Close()
	socket, err := ln.(*net.TCPListener).File()
	testkit.OK(t, err)
	defer socket.Close()
	address := ln.Addr().String()
	s := newService(t, "--listen", address)
	process := s.start(socket)
	c := &crowd{address: address}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.begin(ctx)
	for range restarts() {
		testkit.OK(t, process.Process.Signal(syscall.SIGTERM))
		testkit.OK(t, process.Wait())
		process = s.start(socket)
		of := c.answers.Load() + clients // of the last server, perhaps
		wait.Until(t, "the server answers", func() bool { return c.answers.Load() > of })
	}
	c.end(t, cancel)
	process.Process.Signal(syscall.SIGTERM)
	testkit.OK(t, process.Wait())
}

// TestSocketFiles: a server that stops removes the file of its socket. The file of a socket that systemd keeps stays.
func TestSocketFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	exists := func(want bool, when string) {
		t.Helper()
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("the socket's file %s: %v", when, err)
		}
	}
	s := newService(t, "--listen", "127.0.0.1:0", "--unix", path)
	stop := func(process *exec.Cmd) {
		t.Helper()
		testkit.OK(t, process.Process.Signal(syscall.SIGTERM))
		testkit.OK(t, process.Wait())
	}
	for range 5 {
		stop(s.start())
		exists(false, "of a server that has stopped")
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	testkit.OK(t, err)
	defer ln.Close()
	socket, err := ln.File()
	testkit.OK(t, err)
	defer socket.Close()
	stop(s.start(socket))
	exists(true, "of systemd")
	stop(s.start(socket))
	exists(true, "of systemd, after a restart")
}

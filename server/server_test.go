package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server"
	"github.com/firn-id/firn/server/firnv1"
)

// patience bounds what a test waits for. Only a test that fails reaches it.
const patience = time.Minute

// A house is a server that runs.
type house struct {
	*server.Server
	addresses []string // of the sockets, in the order of the Config
	end       func() error
}

// run runs a server until the test ends.
func run(t *testing.T, c server.Config) *house {
	t.Helper()
	store := memlease.New()
	c.OpenStore = func(context.Context, string) (driver.Store, error) { return store, nil }
	c.Log = slog.New(slog.DiscardHandler)
	if c.Listen == nil {
		c.Listen = []string{"127.0.0.1:0"}
	}
	h := &house{}
	ready := make(chan struct{})
	c.OpenSocket = func(network, address string) (net.Listener, error) {
		ln, err := server.Listen(network, address)
		if err == nil {
			h.addresses = append(h.addresses, ln.Addr().String())
		}
		return ln, err
	}
	c.Ready = func() error { close(ready); return nil }
	var err error
	if h.Server, err = server.New(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Serve(ctx) }()
	select {
	case <-ready:
	case err := <-done:
		cancel()
		t.Fatal(err)
	}
	h.end = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-done:
			return err
		case <-time.After(patience):
			return errors.New("the server does not end")
		}
	})
	t.Cleanup(func() {
		if err := h.end(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// incr sends INCR, and returns the answer.
func incr(t *testing.T, c net.Conn) string {
	t.Helper()
	c.SetDeadline(time.Now().Add(patience))
	testkit.OK(t, testkit.Err(io.WriteString(c, "*2\r\n$4\r\nINCR\r\n$9\r\nnanoflake\r\n")))
	line, err := bufio.NewReader(c).ReadString('\n')
	testkit.OK(t, err)
	return line
}

// checkProtocols takes an ID by each protocol.
func checkProtocols(t *testing.T, dial func() (net.Conn, error), client *http.Client, url string, conn *grpc.ClientConn) {
	t.Helper()
	c, err := dial()
	testkit.OK(t, err)
	defer c.Close()
	if line := incr(t, c); !strings.HasPrefix(line, ":") {
		t.Errorf("INCR: %q", line)
	}
	answer, err := client.Get(url + "/v1/generators/nanoflake/ids")
	testkit.OK(t, err)
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusOK || answer.Proto != "HTTP/1.1" {
		t.Errorf("%s %s: %s", answer.Proto, answer.Status, body)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	b, err := firnv1.NewFirnClient(conn).Take(ctx, &firnv1.TakeRequest{Name: "nanoflake"})
	if err != nil || len(b.GetPacked()) != 8 {
		t.Errorf("%v, %v", b, err)
	}
}

func dialGRPC(t *testing.T, target string, with credentials.TransportCredentials) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(target, grpc.WithTransportCredentials(with))
	testkit.OK(t, err)
	return conn
}

// One port speaks all protocols, and a socket of files too.
func TestProtocols(t *testing.T) {
	path := filepath.Join(t.TempDir(), "firn.sock")
	h := run(t, server.Config{RESP: "127.0.0.1:0", Unix: path})
	checkProtocols(t, func() (net.Conn, error) { return net.Dial("tcp", h.addresses[0]) },
		http.DefaultClient, "http://"+h.addresses[0], dialGRPC(t, h.addresses[0], insecure.NewCredentials()))

	unix := func() (net.Conn, error) { return net.Dial("unix", path) }
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return unix() }}}
	checkProtocols(t, unix, client, "http://localhost", dialGRPC(t, "unix:"+path, insecure.NewCredentials()))
	client.CloseIdleConnections()

	c, err := net.Dial("tcp", h.addresses[1])
	testkit.OK(t, err)
	defer c.Close()
	if line := incr(t, c); !strings.HasPrefix(line, ":") {
		t.Errorf("INCR at the port of RESP: %q", line)
	}
	if answer, err := http.Get("http://" + h.addresses[1]); err == nil {
		answer.Body.Close()
		t.Error("the port of RESP speaks HTTP")
	}
	http.DefaultClient.CloseIdleConnections()
	testkit.OK(t, h.end())
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's file after the end: %v", err)
	}
}

// The file of a socket is replaced if no process listens there, and stays if a process does.
func TestSocketFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := server.Listen("unix", path)
	testkit.OK(t, err)
	if _, err := server.Listen("unix", path); err == nil {
		t.Fatal("a socket that is in use was replaced")
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false)
	first.Close() // as a crash leaves the file
	second, err := server.Listen("unix", path)
	testkit.OK(t, err)
	second.Close()
	testkit.OK(t, os.WriteFile(path, []byte("mine"), 0o600))
	if _, err := server.Listen("unix", path); err == nil {
		t.Fatal("a file that is no socket was replaced")
	}
}

// An authority signs certificates for a test.
type authority struct {
	t    *testing.T
	file string
	pair *tls.Certificate
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t, pool: x509.NewCertPool()}
	a.file, _, a.pair = storetest.Sign(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "authority"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	a.pool.AddCert(a.pair.Leaf)
	return a
}

// sign writes a certificate and its key.
func (a *authority) sign(name string) (cert, key string) {
	cert, key, _ = storetest.Sign(a.t, a.pair, &x509.Certificate{Subject: pkix.Name{CommonName: name},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}})
	return cert, key
}

// One port speaks all protocols inside of TLS: the client's offer by ALPN decides, or else the first bytes.
func TestTLS(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.sign("server")
	for _, mutual := range []bool{false, true} {
		t.Run(fmt.Sprintf("mutual=%v", mutual), func(t *testing.T) {
			c := server.Config{TLS: server.TLS{Cert: cert, Key: key}}
			client := &tls.Config{RootCAs: a.pool}
			if mutual {
				c.TLS.CA = a.file
			}
			h := run(t, c)
			at := h.addresses[0]
			if mutual {
				stranger, err := tls.Dial("tcp", at, client)
				if err == nil { // the server's refusal comes after the handshake of TLS 1.3
					stranger.SetDeadline(time.Now().Add(patience))
					_, err = stranger.Read(make([]byte, 1))
					stranger.Close()
				}
				if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("a client without a certificate: %v", err)
				}
				own, err := tls.LoadX509KeyPair(a.sign("client"))
				testkit.OK(t, err)
				client.Certificates = []tls.Certificate{own}
			}
			web := &http.Client{Transport: &http.Transport{TLSClientConfig: client.Clone(), ForceAttemptHTTP2: true}}
			checkProtocols(t, func() (net.Conn, error) { return tls.Dial("tcp", at, client) }, web, "https://"+at, dialGRPC(t, at, credentials.NewTLS(client.Clone())))
			web.CloseIdleConnections()
			plain, err := net.Dial("tcp", at)
			testkit.OK(t, err)
			defer plain.Close()
			plain.SetDeadline(time.Now().Add(patience))
			io.WriteString(plain, "*1\r\n$4\r\nPING\r\n")
			if answer, err := io.ReadAll(plain); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(answer), "PONG") {
				t.Errorf("a client without TLS: %q, %v", answer, err)
			}
		})
	}
}

// A server ends in time, whatever its clients do: a stream whose client does not read, a request that never ends, an idle
// connection of each protocol.
func TestEndsBesideStubbornClients(t *testing.T) {
	h := run(t, server.Config{Drain: time.Second})
	at := h.addresses[0]
	conn := dialGRPC(t, at, insecure.NewCredentials())
	defer conn.Close()
	stream, err := firnv1.NewFirnClient(conn).Stream(t.Context(), &firnv1.StreamRequest{Name: "nanoflake"})
	testkit.OK(t, err)
	testkit.OK(t, testkit.Err(stream.Recv()))
	for _, text := range []string{"", "*2\r\n$4\r\nINCR\r\n", "*1\r\n$4\r\nPING\r\n", "GET / HTTP/1.1\r\nHost: local", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		c, err := net.Dial("tcp", at)
		testkit.OK(t, err)
		defer c.Close()
		testkit.OK(t, testkit.Err(io.WriteString(c, text)))
	}
	began := time.Now()
	if err := h.end(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second { // one second would do, and time-outs of clients take longer
		t.Errorf("the end takes %v", took)
	}
	if c, err := net.Dial("tcp", at); err == nil {
		c.Close()
		t.Error("the server still listens")
	}
	for { // the batches that were under way
		if _, err = stream.Recv(); err != nil {
			break
		}
	}
	if code := status.Code(err); code != codes.Unavailable {
		t.Errorf("the stream ends with %v", err)
	}
}

// While hostile clients send the beginnings of requests, the bodies of requests, and bytes of no protocol, a good client is
// served.
func TestHostileClients(t *testing.T) {
	h := run(t, server.Config{})
	at := h.addresses[0]
	var hostile sync.WaitGroup
	for _, text := range []string{
		"*1000000000\r\n", "*1\r\n$2147483648\r\n", "*1\r\n$-1\r\n", "*-1\r\n", "*3\r\n$4\r\nINCR\r\n$-5\r\n", "*1\n$4\nPING\n",
		"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n*2\r\n$4\r\nINCR\r\n$9\r\nnanoflake\r\n",
		"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "GET /v1/generators/nanoflake/ids?n=-1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x00\x01\x02\x03\r\n\r\n", strings.Repeat("A", 100_000),
		"GET /" + strings.Repeat("a", 100_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
	} {
		for range 20 {
			hostile.Go(func() {
				c, err := net.Dial("tcp", at)
				if err != nil {
					return
				}
				defer c.Close()
				c.SetDeadline(time.Now().Add(patience))
				io.WriteString(c, text)
				c.(*net.TCPConn).CloseWrite()
				answer, err := io.ReadAll(c)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%.40q: no end, after %.100q", text, answer)
				}
				if strings.Contains(string(answer), "\n:") || strings.HasPrefix(string(answer), ":") {
					t.Errorf("%.40q made an ID: %q", text, answer)
				}
			})
		}
	}
	c, err := net.Dial("tcp", at)
	testkit.OK(t, err)
	defer c.Close()
	seen := map[string]bool{}
	for range 2000 {
		line := incr(t, c)
		if !strings.HasPrefix(line, ":") || seen[line] {
			t.Fatalf("%q", line)
		}
		seen[line] = true
	}
	hostile.Wait()
}

// A request whose headers trickle is cut, although each byte comes in time.
func TestTrickle(t *testing.T) {
	t.Parallel()
	h := run(t, server.Config{})
	c, err := net.Dial("tcp", h.addresses[0])
	testkit.OK(t, err)
	defer c.Close()
	io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n")
	ends := make(chan error, 1)
	go func() {
		_, err := io.ReadAll(c)
		ends <- err
	}()
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		select {
		case <-ends:
			return
		default:
		}
		if time.Since(began) > patience {
			t.Fatal("the server waits for ever")
		}
		io.WriteString(c, "X: y\r\n")
	}
}

package door_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server/internal/door"
)

// A house is a Door with a server of each protocol. The answer of a server names the protocol, and the bytes that came.
type house struct {
	*door.Door
	address string
	ends    func() // ends the listener
	close   func() // ends the listener and all connections
}

func open(t *testing.T, c door.Config, only bool) *house {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.RESP = func(conn net.Conn, start []byte, _, entered, ended func()) {
		defer ended()
		entered()
		fmt.Fprintf(conn, "RESP %q", start)
		conn.Close()
	}
	if c.Full == nil {
		c.Full = func(conn net.Conn, p door.Protocol) { fmt.Fprintf(conn, "full %d", p) }
	}
	h := &house{Door: door.New(c)}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	testkit.OK(t, err)
	h.address = ln.Addr().String()
	var doors sync.WaitGroup
	doors.Go(func() { h.Serve(ln, only) })
	type key struct{}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "HTTP %s %s %q, full %t", r.Method, r.URL, body, r.Context().Value(key{}).(door.Conn).Full())
	}), ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, key{}, c) }}
	go server.Serve(h.Listener(door.HTTP))
	go func() {
		for {
			conn, err := h.Listener(door.GRPC).Accept()
			if err != nil {
				return
			}
			first := make([]byte, 24)
			io.ReadFull(conn, first)
			fmt.Fprintf(conn, "gRPC %q", first)
			conn.Close()
		}
	}()
	h.ends = sync.OnceFunc(func() {
		ln.Close()
		doors.Wait()
	})
	h.close = sync.OnceFunc(func() {
		h.ends()
		h.Drain()
		h.Wait(context.Background())
	})
	t.Cleanup(h.close)
	return h
}

// send sends texts on a connection, and returns the answer.
func (h *house) send(t *testing.T, texts ...string) string {
	t.Helper()
	c, err := net.Dial("tcp", h.address)
	testkit.OK(t, err)
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	for _, text := range texts {
		testkit.OK(t, testkit.Err(io.WriteString(c, text)))
		time.Sleep(time.Millisecond) // so that the texts arrive one by one
	}
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	return string(answer)
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

func TestProtocols(t *testing.T) {
	h := open(t, door.Config{}, false)
	const get = "GET /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
	for _, test := range []struct {
		sends []string
		want  string
	}{
		{[]string{"*1\r\n$4\r\nPING\r\n"}, `RESP "*1\r\n$4\r\nPING\r\n"`},
		{[]string{"*", "1\r\n"}, `RESP "*"`},
		{[]string{preface}, `gRPC "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"`},
		{strings.Split(preface, ""), `gRPC "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"`},
		{[]string{get}, "HTTP GET /x"},
		{strings.Split(get, ""), "HTTP GET /x"},
		// A method that begins as the preface does.
		{[]string{"PR", "OPFIND /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"}, "HTTP PROPFIND /x"},
		{[]string{"PRI * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"}, "HTTP PRI *"},
		// The body of a request is commands of RESP, and stays a body.
		{[]string{"POST /x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 14\r\n\r\n", "*1\r\n$4\r\nPING\r\n"}, `"*1\r\n$4\r\nPING\r\n"`},
		{[]string{"PING\r\n"}, "400 Bad Request"},
		{[]string{"$4\r\nPING\r\n"}, "400 Bad Request"},
		{[]string{"\x16\x03\x01\x00\x05hello\r\n"}, "400 Bad Request"},
	} {
		if got := h.send(t, test.sends...); !strings.Contains(got, test.want) {
			t.Errorf("%q: %q, want %q", test.sends, got, test.want)
		}
	}
}

// Handshakes that fail are counted, the first is in the log, and a client without TLS gets a readable answer.
func TestHandshakes(t *testing.T) {
	secure := httptest.NewTLSServer(nil) // has a certificate
	secure.Close()
	for _, only := range []bool{false, true} {
		var log bytes.Buffer
		var failed atomic.Int64
		h := open(t, door.Config{TLS: secure.TLS, Log: slog.New(slog.NewTextHandler(&log, nil)), Failed: func() { failed.Add(1) }}, only)
		const resp = "-ERR request: this port speaks TLS: "
		web := "HTTP/1.0 400 Bad Request\r\n"
		if only {
			web = resp
		}
		for text, want := range map[string]string{
			"*1\r\n$4\r\nPING\r\n":                         resp,
			"*1\r\n$9999\r\n" + strings.Repeat("x", 1<<20): resp, // unread bytes do not reset the connection
			"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n":    web,
		} {
			got := h.send(t, text)
			if !strings.HasPrefix(got, want) || !strings.Contains(got, "this port speaks TLS") {
				t.Errorf("%.20q: %q, want %q", text, got, want)
			}
		}
		if _, err := tls.Dial("tcp", h.address, &tls.Config{RootCAs: x509.NewCertPool()}); err == nil {
			t.Error("a client that trusts nobody has connected")
		}
		silent, err := net.Dial("tcp", h.address)
		testkit.OK(t, err)
		silent.Close()
		h.close() // the connections write no log any more
		if failed.Load() != 4 {
			t.Errorf("%d handshakes have failed, want 4", failed.Load())
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 1 || !strings.Contains(log.String(), "client=127.0.0.1:") {
			t.Errorf("%d warnings: %s", n, &log)
		}
	}
}

// A port of RESP alone never looks at the first bytes.
func TestOnly(t *testing.T) {
	h := open(t, door.Config{}, true)
	if got := h.send(t); got != `RESP ""` {
		t.Errorf("%q", got)
	}
}

// Connections that send nothing, or a part of the preface, are closed.
func TestSilence(t *testing.T) {
	h := open(t, door.Config{First: 50 * time.Millisecond}, false)
	for _, text := range []string{"", "PRI * HT"} {
		if got := h.send(t, text); got != "" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// A connection beyond the limit gets an answer of its protocol, HTTP from the server of HTTP, and the end of another
// connection makes room.
func TestLimit(t *testing.T) {
	h := open(t, door.Config{Limit: 1}, false)
	first, err := net.Dial("tcp", h.address)
	testkit.OK(t, err)
	defer first.Close()
	fmt.Fprint(first, "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	testkit.OK(t, testkit.Err(http.ReadResponse(bufio.NewReader(first), nil)))
	for text, want := range map[string]string{"*1\r\n": "full 2", preface: "full 1",
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n": "full true"} {
		if got := h.send(t, text); !strings.HasSuffix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	first.Close()
	for deadline := time.Now().Add(time.Minute); h.Connections() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the closed connection still counts")
		}
	}
	if got := h.send(t, "*1\r\n"); got != `RESP "*1\r\n"` {
		t.Errorf("%q", got)
	}
}

// A connection that was accepted before the drain, and whose request comes later, is served. Idle connections end
// without a reset, although the client sends more.
func TestDrain(t *testing.T) {
	h := open(t, door.Config{}, false)
	var conns []net.Conn
	for range 20 {
		c, err := net.Dial("tcp", h.address)
		testkit.OK(t, err)
		defer c.Close()
		c.SetDeadline(time.Now().Add(time.Minute))
		conns = append(conns, c)
	}
	for deadline := time.Now().Add(time.Minute); h.Connections() < len(conns); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("connections are not accepted")
		}
	}
	h.ends()
	drained := make(chan struct{})
	go func() {
		h.Drain()
		close(drained)
	}()
	for i, c := range conns[1:] {
		fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", i)
	}
	for i, c := range conns[1:] {
		answer, err := io.ReadAll(c)
		if want := fmt.Sprintf("HTTP GET /%d", i); err != nil || !strings.Contains(string(answer), want) {
			t.Errorf("connection %d: %q, %v", i, answer, err)
		}
	}
	if answer, err := io.ReadAll(conns[0]); err != nil || len(answer) > 0 {
		t.Errorf("the silent connection: %q, %v", answer, err)
	}
	<-drained
	if _, err := io.WriteString(conns[0], "too late"); err != nil {
		t.Errorf("a write after the end of the answers: %v", err)
	}
}

package door_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/server/internal/door"
)

// A house is a Door with a server of each protocol. The answer of a server names the protocol, and the bytes that came.
type house struct {
	*door.Door
	address string
	ends    func() // ends the listener
}

func open(t *testing.T, c door.Config, only bool) *house {
	t.Helper()
	c.Log = slog.New(slog.DiscardHandler)
	c.RESP = func(conn net.Conn, start []byte, entered, ended func()) {
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
	if err != nil {
		t.Fatal(err)
	}
	h.address = ln.Addr().String()
	var doors sync.WaitGroup
	doors.Go(func() { h.Serve(ln, only) })
	go http.Serve(h.Listener(door.HTTP), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "HTTP %s %s %q", r.Method, r.URL, body)
	}))
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
	t.Cleanup(func() {
		h.ends()
		h.Drain()
		h.Wait(context.Background())
	})
	return h
}

// send sends texts on a connection, and returns the answer.
func (h *house) send(t *testing.T, texts ...string) string {
	t.Helper()
	c, err := net.Dial("tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	for _, text := range texts {
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
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

// A connection beyond the limit gets an answer of its protocol, and the end of another connection makes room.
func TestLimit(t *testing.T) {
	h := open(t, door.Config{Limit: 1}, false)
	first, err := net.Dial("tcp", h.address)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	fmt.Fprint(first, "GET /1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if _, err := http.ReadResponse(bufio.NewReader(first), nil); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"*1\r\n": "full 2", "GET / HTTP/1.1\r\n\r\n": "full 0", preface: "full 1"} {
		if got := h.send(t, text); got != want {
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
		if err != nil {
			t.Fatal(err)
		}
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

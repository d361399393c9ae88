package server_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/server"
	"github.com/firn-id/firn/server/firnv1"
)

const token = "a-token-for-everything"

// tokens writes a file of tokens.
func tokens(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "tokens.toml")
	testkit.OK(t, os.WriteFile(path, []byte("[tokens.all]\ntoken = \""+token+"\"\n"), 0o600))
	return path
}

// frame returns a command of RESP.
func frame(words ...string) string {
	text := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	return text
}

// h2 returns the beginning of a connection of HTTP/2 with a call that has begun, and lasts.
func h2(path string) string {
	var out, block strings.Builder
	out.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&out, nil)
	f.WriteSettings()
	headers := hpack.NewEncoder(&block)
	for _, v := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", path}, {":authority", "localhost"}, {"content-type", "application/grpc"}} {
		headers.WriteField(hpack.HeaderField{Name: v[0], Value: v[1]})
	}
	f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(block.String()), EndHeaders: true})
	if strings.HasSuffix(path, "Watch") {
		f.WriteData(1, true, make([]byte, 5))
	}
	return out.String()
}

// A client without a token is cut, whatever it does meanwhile. A client with a token stays, and then does what it likes.
func TestClientsWithoutToken(t *testing.T) {
	const limit = time.Second
	server.SetTokenTime(t, limit)
	a := newAuthority(t)
	cert, key := a.sign("server")
	file := tokens(t)
	h := run(t, server.Config{Tokens: file})
	secure := run(t, server.Config{Tokens: file, TLS: server.TLS{Cert: cert, Key: key}})
	plain := func() (net.Conn, error) { return net.Dial("tcp", h.addresses[0]) }
	raw := func() (net.Conn, error) { return net.Dial("tcp", secure.addresses[0]) }
	with := func(protocols ...string) func() (net.Conn, error) {
		return func() (net.Conn, error) {
			return tls.Dial("tcp", secure.addresses[0], &tls.Config{RootCAs: a.pool, NextProtos: protocols})
		}
	}
	stay := keepers(t, h)

	var all sync.WaitGroup
	for _, test := range []struct {
		name        string
		dial        func() (net.Conn, error)
		first, then string // then is sent again and again
	}{
		{"silence", plain, "", ""},
		{"a byte of the preface at a time", plain, "", "P"},
		{"RESP: silence", plain, "*", ""},
		{"RESP: PING", plain, "", frame("PING")},
		{"RESP: pipelines of PING", plain, "", strings.Repeat(frame("PING"), 100)},
		{"RESP: wrong tokens", plain, "", frame("AUTH", "a-token-for-nothing")},
		{"RESP: HELLO", plain, "", frame("HELLO", "3")},
		{"RESP: RESET", plain, "", frame("RESET")},
		{"RESP: a part of a command", plain, "*2\r\n$4\r\nAUTH\r\n$200\r\n", "x"},
		{"HTTP: half a request", plain, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", ""},
		{"HTTP: headers without an end", plain, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n", "X: y\r\n"},
		{"HTTP: a body without an end", plain, "POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n", "x"},
		{"HTTP: health", plain, "", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		{"HTTP: refused", plain, "", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a-token-for-nothing\r\n\r\n"},
		{"HTTP: another host", plain, "", "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"},
		{"gRPC: silence", plain, http2.ClientPreface, ""},
		{"gRPC: pings", plain, http2.ClientPreface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "\x00\x00\x08\x06\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"},
		{"gRPC: Take without a message", plain, h2("/firn.v1.Firn/Take"), ""},
		{"gRPC: Watch", plain, h2("/grpc.health.v1.Health/Watch"), ""},
		{"TLS: silence", raw, "", ""},
		{"TLS: half a handshake", raw, "\x16\x03\x01\x02\x00\x01\x00", ""},
		{"TLS: nothing behind the handshake", with(), "", ""},
		{"TLS: PING", with(), "", frame("PING")},
		{"TLS: half a request", with("http/1.1"), "GET / HTTP/1.1\r\n", ""},
		{"TLS: Watch", with("h2"), h2("/grpc.health.v1.Health/Watch"), ""},
	} {
		all.Go(func() {
			c, err := test.dial()
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
				return
			}
			defer c.Close()
			c.SetDeadline(time.Now().Add(10 * time.Second)) // less than the limits that hold without the one for tokens
			io.WriteString(c, test.first)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%s: the connection stays", test.name)
				}
			}()
			for {
				select {
				case <-ended:
					return
				case <-time.After(20 * time.Millisecond):
					io.WriteString(c, test.then)
				}
			}
		})
	}
	all.Wait()
	time.Sleep(2 * limit)
	stay()
}

// keepers opens connections with a token, and returns a function that fails the test if they were cut.
func keepers(t *testing.T, h *house) (check func()) {
	at := h.addresses[0]
	resp, err := net.Dial("tcp", at)
	testkit.OK(t, err)
	t.Cleanup(func() { resp.Close() })
	in := bufio.NewReader(resp)
	send := func(command, want string) {
		t.Helper()
		resp.SetDeadline(time.Now().Add(patience))
		io.WriteString(resp, command)
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("%q: %q, %v", command, line, err)
		}
	}
	send(frame("AUTH", token), "+OK")

	var dials [3]atomic.Int64 // HTTP, gRPC, gRPC with health alone
	count := func(i int) func(context.Context, string, string) (net.Conn, error) {
		return func(ctx context.Context, network, address string) (net.Conn, error) {
			dials[i].Add(1)
			return net.Dial(network, address)
		}
	}
	client := http.Client{Transport: &http.Transport{DialContext: count(0)}}
	get := func(path string) {
		t.Helper()
		r, _ := http.NewRequest("GET", "http://"+at+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 200 {
			t.Error(answer.Status, err)
		}
	}
	get("/healthz")

	dial := func(i int) *grpc.ClientConn {
		c, err := grpc.NewClient("passthrough:"+at, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return count(i)(ctx, "tcp", address) }))
		testkit.OK(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	take := firnv1.NewFirnClient(dial(1))
	look := healthpb.NewHealthClient(dial(2))
	call := func() {
		t.Helper()
		if _, err := take.List(ctx, &firnv1.ListRequest{}); err != nil {
			t.Error(err)
		}
		if _, err := look.Check(ctx, &healthpb.HealthCheckRequest{}); err != nil {
			t.Error(err)
		}
	}
	call()
	return func() {
		t.Helper()
		send(frame("PING"), "+PONG")
		send(frame("RESET"), "+RESET")
		send(frame("PING"), "-NOAUTH")
		get("/v1/generators")
		call()
		for i := range dials {
			if n := dials[i].Load(); n != 1 {
				t.Errorf("client %d has dialled %d times", i, n)
			}
		}
	}
}

// Without tokens, no client needs one.
func TestNoTokensNoLimit(t *testing.T) {
	const limit = 50 * time.Millisecond
	server.SetTokenTime(t, limit)
	h := run(t, server.Config{})
	c, err := net.Dial("tcp", h.addresses[0])
	testkit.OK(t, err)
	defer c.Close()
	for range 3 {
		time.Sleep(2 * limit)
		if line := incr(t, c); !strings.HasPrefix(line, ":") {
			t.Fatal(line)
		}
	}
}

// While other clients have all connections, and more wait, health and metrics are answered, and other requests get the
// reason. A connection that ends makes room.
func TestFullHouse(t *testing.T) {
	const limit, more = 3, 100
	h := run(t, server.Config{Limits: server.Limits{Connections: limit}})
	at := h.addresses[0]
	dial := func() net.Conn {
		c, err := net.Dial("tcp", at)
		testkit.OK(t, err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	var held []net.Conn
	for range limit {
		held = append(held, dial())
		if line := incr(t, held[len(held)-1]); !strings.HasPrefix(line, ":") {
			t.Fatal(line)
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	for round := range 5 {
		for range more { // silent, with half a request, with a part of a command
			io.WriteString(dial(), []string{"", "GET /healthz HTTP/1.1\r\n", "*"}[round%3])
		}
		for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/v1/generators": 503, "/": 503, "/v1/generators/sno/ids": 503} {
			answer, err := client.Get("http://" + at + path)
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
			body, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			if answer.StatusCode != want || want == 503 && (!strings.Contains(string(body), `"connections"`) || answer.Header.Get("Retry-After") == "") || !answer.Close {
				t.Errorf("%s: %s %.100s", path, answer.Status, body)
			}
		}
		if line := incr(t, dial()); !strings.HasPrefix(line, "-TRYAGAIN connections:") {
			t.Error(line)
		}
		for _, c := range held {
			if line := incr(t, c); !strings.HasPrefix(line, ":") {
				t.Error(line)
			}
		}
	}
	held[0].Close()
	for until := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		c := dial()
		line := incr(t, c)
		if strings.HasPrefix(line, ":") {
			break
		}
		if time.Now().After(until) {
			t.Fatal(line)
		}
	}
}

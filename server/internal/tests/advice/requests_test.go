package advice

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/advice"

	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server"
)

// serve runs a server with a generator for each format until the test ends, or until stop, which returns when the server
// has ended. The addresses are those of the sockets, in the order of the Config.
func serve(t *testing.T, c server.Config) (addresses []string, stop func()) {
	t.Helper()
	store := memlease.New()
	c.OpenStore = func(context.Context, string) (driver.Store, error) { return store, nil }
	c.Log = slog.New(slog.DiscardHandler)
	c.Limits.Wait, c.Drain, c.Lease.Window = time.Minute, time.Minute, wait.Patience // the machine may stand still
	if c.Listen == nil && c.Unix == "" {
		c.Listen = []string{"127.0.0.1:0"}
	}
	c.OpenSocket = func(network, address string) (net.Listener, error) {
		ln, err := server.Listen(network, address)
		if err == nil {
			addresses = append(addresses, ln.Addr().String())
		}
		return ln, err
	}
	ready, done := make(chan struct{}), make(chan error, 1)
	c.Ready = func() error { close(ready); return nil }
	s, err := server.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- s.Serve(ctx) }()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(wait.Patience):
			t.Error("the server does not end")
		}
	})
	t.Cleanup(stop)
	return addresses, stop
}

// A client speaks RESP and HTTP with a server.
type client struct {
	address string
	tls     *tls.Config // nil without TLS
}

func (c client) dial() (net.Conn, error) {
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(wait.Patience))
	if c.tls != nil {
		return tls.Client(conn, c.tls), nil
	}
	return conn, nil
}

// redis sends the commands of a text, which ';' divides, in one pipeline, and returns the first error of the answers.
func (c client) redis(commands string) error {
	var all strings.Builder
	n := 0
	for command := range strings.SplitSeq(commands, ";") {
		words := strings.Fields(command)
		fmt.Fprintf(&all, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(&all, "$%d\r\n%s\r\n", len(w), w)
		}
		n++
	}
	return c.raw(all.String(), n)
}

// raw sends bytes, and reads n answers of RESP.
func (c client) raw(text string, n int) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		return err
	}
	for r := bufio.NewReader(conn); n > 0; n-- {
		if err := readValue(r); err != nil {
			return err
		}
	}
	return nil
}

// readValue reads a value of RESP, and returns the text of an error.
func readValue(r *bufio.Reader) error {
	line, err := r.ReadString('\n')
	if err != nil {
		return err
	}
	line = strings.TrimSuffix(line, "\r\n")
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '-':
		return errors.New(line)
	case '$':
		_, err = r.Discard(n + len("\r\n"))
	case '%':
		n *= 2
		fallthrough
	case '*':
		for ; n > 0 && err == nil; n-- {
			err = readValue(r)
		}
	}
	return err
}

// web sends a request: a line with method and path, lines of headers, and after an empty line the body. The error is
// what a person reads in the answer.
func (c client) web(request string) error {
	head, body, _ := strings.Cut(request, "\n\n")
	lines := strings.Split(head, "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	scheme := "http"
	if c.tls != nil {
		scheme = "https"
	}
	r, err := http.NewRequest(method, scheme+"://"+c.address+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	for _, line := range lines[1:] {
		if name, value, _ := strings.Cut(line, ": "); name == "Host" {
			r.Host = value
		} else {
			r.Header.Add(name, value)
		}
	}
	transport := &http.Transport{TLSClientConfig: c.tls, DisableKeepAlives: true}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode == http.StatusOK {
		return err
	}
	var object struct {
		Error struct{ Reason, Message string } `json:"error"`
	}
	if json.Unmarshal(text, &object) == nil {
		return errors.New(object.Error.Reason + ": " + object.Error.Message)
	}
	return errors.New(string(text))
}

// asked is a fault of what send sends. ways are parts of the advice, each with what is sent then.
func asked(send func(string) error, text string, ways ...string) advice.Fault {
	return advice.Changed(func(_ *testing.T, text string) error { return send(text) }, text, ways...)
}

func requests(t *testing.T) []advice.Fault {
	dir := t.TempDir()
	writeToken(t, dir)
	certificate(t, dir)
	open, _ := serve(t, server.Config{RESP: "127.0.0.1:0"})
	locked, _ := serve(t, server.Config{Tokens: filepath.Join(dir, "tokens.toml")})
	hosted, _ := serve(t, server.Config{Hosts: []string{"ids.example.com"}})
	secured, _ := serve(t, server.Config{TLS: pem(dir)})
	plain := client{address: open[0]}
	redis, web := plain.redis, plain.web
	lockedRedis, lockedWeb := client{address: locked[0]}.redis, client{address: locked[0]}.web
	inTLS := client{secured[0], &tls.Config{InsecureSkipVerify: true}}
	const ids = "GET /v1/generators/nanoflake/ids"
	const wide = "GET /v1/generators/scru160/ids"

	onlyRESP := client{address: open[1]}
	inline := func(text string) error { return onlyRESP.raw(text, 1) }
	unencrypted := func(text string) error { return client{address: secured[0]}.raw(text, 1) }
	const get = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"

	return []advice.Fault{
		asked(redis, "GET nanoflake", "INCR", "INCR nanoflake", "and FIRN.NEXT", "FIRN.NEXT nanoflake"),
		asked(redis, "SET nanoflake 1", "use INCR", "INCR nanoflake", "or FIRN.NEXT", "FIRN.NEXT nanoflake"),
		asked(redis, "DECR nanoflake", "use INCR", "INCR nanoflake"),
		asked(redis, "DECRBY nanoflake 1", "use INCR", "INCR nanoflake"),
		asked(redis, "INCRBYFLOAT nanoflake 1", "use INCR", "INCR nanoflake"),
		asked(redis, "MULTI", "send the commands in a pipeline without one", "INCR nanoflake;INCR nanoflake;INCR nanoflake"),
		asked(redis, "INCRBY nanoflake 7", "for more IDs use FIRN.NEXT key count", "FIRN.NEXT nanoflake 7", "or FIRN.RUN key count", "FIRN.RUN nanoflake 7", "the increment 1", "INCRBY nanoflake 1"),
		asked(redis, "INCR scru160", "use FIRN.NEXT", "FIRN.NEXT scru160", "or FIRN.RAW", "FIRN.RAW scru160 1"),
		asked(redis, "FIRN.RUN scru160 7", "use FIRN.RAW", "FIRN.RAW scru160 7"),
		asked(redis, "HELLO x", "use HELLO 2", "HELLO 2", "or HELLO 3", "HELLO 3"),
		asked(redis, "HELLO 4", "use HELLO 2", "HELLO 2", "or HELLO 3", "HELLO 3"),
		asked(redis, "FIRN.RAW nanoflake", "FIRN.RAW name count", "FIRN.RAW nanoflake 1"),
		asked(redis, "FIRN.NXT nanoflake", "the commands are", "FIRN.NEXT nanoflake"),
		asked(redis, "INCR none", "the generators are nanoflake", "INCR nanoflake"),
		asked(redis, "SELECT 1", "database 0", "SELECT 0;INCR nanoflake"),
		asked(lockedRedis, "INCR nanoflake", "send AUTH TOKEN", "AUTH "+secret+";INCR nanoflake", "or HELLO 3 AUTH default TOKEN", "HELLO 3 AUTH default "+secret+";INCR nanoflake"),
		asked(lockedRedis, "AUTH root "+secret, "send AUTH TOKEN", "AUTH "+secret+";INCR nanoflake", "the only user is default", "AUTH default "+secret+";INCR nanoflake"),
		asked(lockedRedis, "HELLO 3", "send HELLO 3 AUTH default TOKEN", "HELLO 3 AUTH default "+secret+";INCR nanoflake", "or AUTH TOKEN before", "AUTH "+secret+";HELLO 3;INCR nanoflake"),
		{Name: "an inline command", Meet: func(t *testing.T) string { return advice.Text(t, inline("INCR nanoflake\r\n")) },
			Ways: advice.Ways{"speak RESP": func(*testing.T) error { return onlyRESP.redis("INCR nanoflake") }}},
		{Name: "RESP without TLS", Meet: func(t *testing.T) string { return advice.Text(t, unencrypted("*1\r\n$4\r\nPING\r\n")) },
			Ways: advice.Ways{"connect with TLS": func(*testing.T) error { return inTLS.redis("INCR nanoflake") }}},
		{Name: "HTTP without TLS", Meet: func(t *testing.T) string { return answer(t, secured[0], get) },
			Ways: advice.Ways{"use https": func(*testing.T) error { return inTLS.web(ids) }}},

		asked(web, ids+"?n=0", "n must be a number from 1", ids+"?n=1", "to 65536", ids+"?n=65536"),
		asked(web, ids+"?n=1&n=2", "give n once", ids+"?n=1"),
		asked(web, ids+"?as=hex&as=int", "give as once", ids+"?as=hex"),
		asked(web, ids+"?as=octal", "as must be text", ids+"?as=text", ", int", ids+"?as=int", "or hex", ids+"?as=hex"),
		asked(web, wide+"?as=int", "use as=hex", wide+"?as=hex", "or as=text", wide+"?as=text"),
		asked(web, ids+"?m=1", "the path takes n and as", ids+"?n=1&as=hex"),
		asked(web, "POST /v1/generators/nanoflake/ids", "use GET", ids),
		asked(web, ids+"\n\nn=100", "put n into the query, as in ?n=100", ids+"?n=100"),
		asked(web, ids+"\nAccept: image/png", "accept application/json", ids+"\nAccept: application/json", "or text/plain", ids+"\nAccept: text/plain",
			"or application/octet-stream", ids+"\nAccept: application/octet-stream"),
		asked(web, "GET /v1/generators\nAccept: image/png", "accept application/json", "GET /v1/generators\nAccept: application/json"),
		asked(web, "GET /nothing", "/openapi.json describes the paths", "GET /openapi.json"),
		{Name: "another host", Meet: func(t *testing.T) string { return advice.Text(t, web(ids+"\nHost: ids.example.com")) }, Ways: advice.Ways{
			"use its address": func(*testing.T) error { return web(ids) },
			"or add the name to the hosts of its configuration": func(*testing.T) error { return client{address: hosted[0]}.web(ids + "\nHost: ids.example.com") },
		}},
		asked(lockedWeb, ids, "send the header Authorization: Bearer TOKEN", ids+"\nAuthorization: Bearer "+secret),
		asked(lockedWeb, ids+"\nAuthorization: Basic eDp5", "send Authorization: Bearer TOKEN, once", ids+"\nAuthorization: Bearer "+secret),
	}
}

// answer sends bytes to an address, and returns the whole answer.
func answer(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := client{address: address}.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

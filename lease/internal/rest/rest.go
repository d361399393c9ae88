// Package rest makes requests of stores over HTTP. It repeats a request only if the request cannot
// take effect twice.
package rest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

const (
	shortest = 5 * time.Millisecond // between two tries
	longest  = 100 * time.Millisecond

	// most is the longest body of a reply, in bytes.
	most = 1 << 28
)

// A Client makes requests of a store with one or more hosts.
type Client struct {
	http  *http.Client
	hosts []string // http://host:port
	last  atomic.Uint32
}

// New returns a client of the hosts, each host:port. The client uses TLS if config is not nil. The
// timeout is the timeout of the store's calls.
func New(hosts []string, config *tls.Config, timeout time.Duration) *Client {
	c := &Client{}
	scheme := "http://"
	if config != nil {
		scheme = "https://"
	}
	for _, host := range hosts {
		c.hosts = append(c.hosts, scheme+host)
	}
	// A request must not use up its time on a host that does not take connections.
	dial := timeout / time.Duration(len(hosts))
	c.http = &http.Client{
		// No other host may get the token or a change.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: dial, KeepAlive: 5 * time.Second}).DialContext,
			TLSClientConfig:     config,
			TLSHandshakeTimeout: dial,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     30 * time.Second,
			// Only HTTP/1: a request that times out on a silent connection closes the connection,
			// and the next request uses another connection.
			Protocols: protocols(),
		},
	}
	return c
}

func protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// A Request is a request to make.
type Request struct {
	Method string
	Path   string // with its escapes
	Query  url.Values
	Header http.Header
	Body   []byte // JSON, if it is not nil
	// Writes says that the request must not be sent again once a host may have got it.
	Writes bool
	// Long says that the reply may take all the time.
	Long bool
	// Refused reports whether a reply says that the request had no effect, will have no effect, and
	// may succeed soon. It may be nil.
	Refused func(*Reply) bool
}

// A Reply is the answer of a host.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do makes a request of the host that answered last. If the request could not be sent or was
// refused, or failed without Writes, Do tries the other hosts in turn. When all hosts have failed,
// Do returns the error, with time left for the caller. If a host refused, Do goes on while there is
// time, and then returns the reply of the refusal: the other hosts may be down.
func (c *Client) Do(ctx context.Context, r Request) (*Reply, error) {
	first := c.last.Load()
	var before *Reply // the last refusal
	for try, pause := 1, shortest; ; try++ {
		host := (first + uint32(try) - 1) % uint32(len(c.hosts))
		others := max(len(c.hosts)-try, 0)
		reply, sent, err := c.once(ctx, c.hosts[host], r, others)
		refused := err == nil && r.Refused != nil && r.Refused(reply)
		switch {
		case err != nil && before != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return before, nil // the refusal says more than the time-out
		case err == nil && !refused:
			c.last.Store(host)
			return reply, nil
		case err != nil && (ctx.Err() != nil || r.Writes && sent || others == 0 && before == nil):
			return nil, err
		case refused:
			before = reply
		}
		if others > 0 {
			continue
		}
		wait := max(pause, before.retryAfter())
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return before, nil
		}
		if err := Sleep(ctx, wait); errors.Is(err, context.DeadlineExceeded) {
			return before, nil
		} else if err != nil {
			return nil, err
		}
		pause = min(pause*2, longest)
	}
}

// once makes a request of a host. sent reports whether the host may have got the request.
func (c *Client) once(ctx context.Context, host string, r Request, others int) (reply *Reply, sent bool, err error) {
	if deadline, ok := ctx.Deadline(); ok && others > 0 && !r.Writes && !r.Long {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(others+1))
		defer cancel()
	}
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	response, err := c.send(ctx, host, r)
	if err != nil {
		return nil, connected.Load(), err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err == nil && len(body) > most {
		err = fmt.Errorf("the answer has more than %d bytes", most)
	}
	if err != nil {
		return nil, true, c.at(host, err)
	}
	return &Reply{Status: response.StatusCode, Header: response.Header, Body: body}, true, nil
}

// Open makes a request of the host that answered last, and returns the response. The caller must
// close the body. If Open fails, the next call asks the next host.
func (c *Client) Open(ctx context.Context, r Request) (*http.Response, error) {
	host := c.last.Load()
	response, err := c.send(ctx, c.hosts[host], r)
	if err != nil {
		c.last.CompareAndSwap(host, (host+1)%uint32(len(c.hosts)))
	}
	return response, err
}

func (c *Client) send(ctx context.Context, host string, r Request) (*http.Response, error) {
	address := host + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, address, body)
	if err != nil {
		return nil, c.at(host, err)
	}
	maps.Copy(request.Header, r.Header)
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "firn")
	if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.at(host, err)
	}
	return response, nil
}

// at adds the host to an error if there are several hosts, and removes the path.
func (c *Client) at(host string, err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	if len(c.hosts) > 1 {
		_, host, _ = strings.Cut(host, "://")
		return fmt.Errorf("%s: %w", host, err)
	}
	return err
}

// retryAfter returns the time for which the server asks the client to wait.
func (r *Reply) retryAfter() time.Duration {
	seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// Reason returns the text of a body on one line, shortened.
func (r *Reply) Reason() string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(r.Body[:min(len(r.Body), 1000)]), "?")), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return cmp.Or(text, http.StatusText(r.Status), "nothing")
}

// Remedy returns what helps against an error of Do, or "" if the server can't be reached.
func Remedy(err error) driver.Remedy {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		remote       *net.OpError
		dns          *net.DNSError
	)
	// An alert of the server has a type that crypto/tls does not export.
	alert := errors.As(err, &remote) && remote.Op == "remote error"
	if alert || errors.As(err, &authority) || errors.As(err, &verification) || errors.As(err, &dns) || IsPlain(err) || IsNotHTTP(err) {
		return driver.RemedyAddress
	}
	return ""
}

// IsPlain reports whether an error of Do says that the server answers without TLS.
func IsPlain(err error) bool {
	_, is := errors.AsType[tls.RecordHeaderError](err)
	return is || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// IsNotHTTP reports whether an error of Do says that the answer is not HTTP, but TLS for example.
func IsNotHTTP(err error) bool { return strings.Contains(err.Error(), "malformed HTTP") }

// Sleep waits for d. If ctx ends earlier, Sleep returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// IsRemote reports whether a host, or host:port, seems to be on another machine.
func IsRemote(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

package kubelease

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

// Pauses before a request that the API refused is sent again.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = 100 * time.Millisecond
)

// maxBody is the longest body of a reply, in bytes.
const maxBody = 1 << 28

// A client makes requests of the API server. It repeats a request only if the request can't take
// effect twice.
type client struct {
	http *http.Client
	base string // http://host:port
}

// newClient returns a client of a host:port. It uses TLS if config is not nil.
func newClient(host string, config *tls.Config, timeout time.Duration) *client {
	scheme := "http://"
	if config != nil {
		scheme = "https://"
	}
	only1 := new(http.Protocols)
	only1.SetHTTP1(true)
	return &client{base: scheme + host, http: &http.Client{
		// No other host may get the token or a change.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: timeout, KeepAlive: 5 * time.Second}).DialContext,
			TLSClientConfig:     config,
			TLSHandshakeTimeout: timeout,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     30 * time.Second,
			// Only HTTP/1: a request that times out on a silent connection closes the connection,
			// and the next request uses another connection.
			Protocols: only1,
		},
	}}
}

// close closes idle connections.
func (c *client) close() { c.http.CloseIdleConnections() }

// A request is a request to make.
type request struct {
	method string
	path   string // with its escapes
	query  url.Values
	header http.Header
	body   []byte // JSON, if it is not nil
	writes bool   // the request must not be sent again once the server may have got it
}

// An answer is a reply of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request. It sends a refused request again while there is time, and then returns the refusal.
func (c *client) do(ctx context.Context, r request) (*answer, error) {
	var before *answer // the last refusal
	for pause := shortestPause; ; pause = min(pause*2, longestPause) {
		reply, sent, err := c.once(ctx, r)
		switch {
		case err != nil && before != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return before, nil // the refusal says more than the time-out
		case err == nil && !reply.refused():
			return reply, nil
		case err != nil && (ctx.Err() != nil || r.writes && sent || before == nil):
			return nil, err
		case err == nil:
			before = reply
		}
		wait := max(pause, before.retryAfter())
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return before, nil
		}
		if err := sleep(ctx, wait); errors.Is(err, context.DeadlineExceeded) {
			return before, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// once makes a request once. sent reports whether the server may have got it.
func (c *client) once(ctx context.Context, r request) (_ *answer, sent bool, err error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	response, err := c.open(ctx, r)
	if err != nil {
		return nil, connected.Load(), err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("the answer has more than %d bytes", maxBody)
	}
	if err != nil {
		return nil, true, withoutURL(err)
	}
	return &answer{status: response.StatusCode, header: response.Header, body: body}, true, nil
}

// open makes a request, and returns the response, whose body the caller must close.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	q, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, withoutURL(err)
	}
	maps.Copy(q.Header, r.header)
	q.Header.Set("Accept", "application/json")
	q.Header.Set("User-Agent", "firn")
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(q)
	return response, withoutURL(err)
}

// withoutURL returns an error of net/http without its URL.
func withoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// refused reports whether the API refused a request before doing anything, because of too many
// requests. The reply has the delay before the next try.
func (r *answer) refused() bool { return r.status == http.StatusTooManyRequests }

// retryAfter returns the time for which the server asks the client to wait.
func (r *answer) retryAfter() time.Duration {
	seconds, err := strconv.ParseUint(r.header.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// reason returns the text of a body on one line, shortened.
func (r *answer) reason() string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(r.body[:min(len(r.body), 1000)]), "?")), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return cmp.Or(text, http.StatusText(r.status), "nothing")
}

// remedyOf returns what helps against an error of a request, or "" if the server can't be reached.
func remedyOf(err error) driver.Remedy {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		plain        tls.RecordHeaderError // the server answers without TLS
		remote       *net.OpError
		dns          *net.DNSError
	)
	// An alert of the server has a type that crypto/tls does not export.
	alert := errors.As(err, &remote) && remote.Op == "remote error"
	if alert || errors.As(err, &authority) || errors.As(err, &verification) || errors.As(err, &plain) || errors.As(err, &dns) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") || strings.Contains(err.Error(), "malformed HTTP") {
		return driver.RemedyAddress
	}
	return ""
}

// sleep waits for d. If ctx ends earlier, sleep returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// isRemote reports whether a host, or host:port, seems to be on another machine.
func isRemote(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host != "localhost" && (ip == nil || !ip.IsLoopback())
}

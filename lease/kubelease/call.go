package kubelease

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// Pauses before a request that the API refused is sent again.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = 100 * time.Millisecond
)

// maxBody is the longest body of a reply, in bytes.
const maxBody = 1 << 28

// newClient returns a client of the API server. It uses TLS if config is not nil.
func newClient(config *tls.Config, timeout time.Duration) *http.Client {
	only1 := new(http.Protocols)
	only1.SetHTTP1(true)
	return &http.Client{
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
	}
}

// A request is a request to make.
type request struct {
	method string
	path   string
	query  url.Values
	body   any  // becomes JSON, if it is not nil
	writes bool // the request must not be sent again once the server may have got it
}

// An answer is a reply of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request. It sends a request again that was refused because of too many requests, before the API
// did anything, while there is time; and then returns the refusal.
func (s *Store) do(ctx context.Context, r request) (*answer, error) {
	var before *answer // the last refusal
	for wait := shortestPause; ; wait = min(wait*2, longestPause) {
		reply, sent, err := s.once(ctx, r)
		switch {
		case err != nil && before != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return before, nil // the refusal says more than the time-out
		case err == nil && reply.status != http.StatusTooManyRequests:
			return reply, nil
		case err != nil && (ctx.Err() != nil || r.writes && sent || before == nil):
			return nil, err
		case err == nil:
			before = reply
		}
		seconds, _ := strconv.ParseUint(before.header.Get("Retry-After"), 10, 16)
		asked := max(wait, time.Duration(seconds)*time.Second)
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < asked {
			return before, nil
		}
		if err := pause.For(ctx, asked); errors.Is(err, context.DeadlineExceeded) {
			return before, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// once makes a request once. sent reports whether the server may have got it.
func (s *Store) once(ctx context.Context, r request) (_ *answer, sent bool, err error) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	response, err := s.send(ctx, r)
	if err != nil {
		return nil, connected.Load(), err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("the answer has more than %d bytes", maxBody)
	}
	if err != nil {
		return nil, true, err
	}
	return &answer{status: response.StatusCode, header: response.Header, body: body}, true, nil
}

// send sends a request with the present token, and returns the response, whose body the caller must close.
func (s *Store) send(ctx context.Context, r request) (*http.Response, error) {
	token, err := s.currentToken()
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if r.body != nil {
		text, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	q, err := http.NewRequestWithContext(ctx, r.method, s.server+r.path, body)
	if err != nil {
		return nil, err
	}
	q.URL.RawQuery = r.query.Encode()
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	q.Header.Set("Accept", "application/json")
	q.Header.Set("User-Agent", "firn")
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	response, err := s.http.Do(q)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the URL
	}
	return response, err
}

// currentToken returns the present token, or "" if the store has none. The error is a *driver.Error.
func (s *Store) currentToken() (string, error) {
	fail := func(err error) (string, error) {
		return "", &driver.Error{Err: fmt.Errorf("%w: the token: %w", driver.ErrUnavailable, err), Remedy: driver.RemedyAddress}
	}
	token := s.token
	if s.tokenFile != "" {
		content, err := os.ReadFile(s.tokenFile)
		if err != nil {
			return fail(err)
		}
		if token = strings.TrimSpace(string(content)); token == "" {
			return fail(fmt.Errorf("%s is empty", s.tokenFile))
		}
	}
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fail(errors.New("it has a character that tokens do not have, such as a line break"))
	}
	return token, nil
}

// A status is the API's answer to a request that failed.
type status struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Details struct {
		Name   string  `json:"name"`
		Kind   string  `json:"kind"`
		Causes []cause `json:"causes"`
	} `json:"details"`
}

type cause struct {
	Reason string `json:"reason"`
}

// statusOf returns the status in a reply, or a status without a kind.
func statusOf(r *answer) status {
	var st status
	if json.Unmarshal(r.body, &st) != nil || st.Kind != "Status" {
		return status{}
	}
	return st
}

// is reports whether a status has the reason and is about the lease of the name. A proxy can say
// NotFound of a path, and the API of a namespace or a quota.
func (st status) is(reason, name string) bool {
	return st.Kind == "Status" && st.Reason == reason && st.Details.Kind == "leases" && st.Details.Name == name
}

// noNamespace reports whether a status says that the namespace is missing.
func (st status) noNamespace() bool {
	return st.Reason == "NotFound" && st.Details.Kind == "namespaces"
}

// terminating reports whether a status says that the namespace is being deleted.
func (st status) terminating() bool {
	return slices.ContainsFunc(st.Details.Causes, func(c cause) bool { return c.Reason == "NamespaceTerminating" })
}

// unexpected returns the error for an answer that the API does not give.
func (s *Store) unexpected(format string, args ...any) error {
	return &driver.Error{Err: fmt.Errorf("%w: %s", driver.ErrUnavailable, s.hide(fmt.Sprintf(format, args...))), Remedy: driver.RemedyAddress}
}

// hide removes the token from a text.
func (s *Store) hide(text string) string {
	token, err := s.currentToken()
	if err != nil || token == "" {
		return text
	}
	return strings.ReplaceAll(text, token, "(token)")
}

// diagnose returns what helps against a damaged entry, or a request without an answer.
func (s *Store) diagnose(err error) (driver.Remedy, error) {
	switch {
	case errors.Is(err, driver.ErrDamaged):
		return "", driver.ErrDamaged
	case errors.Is(err, errGone):
		return driver.RemedyWait, driver.ErrUnavailable
	case address.AtFault(err), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"), strings.Contains(err.Error(), "malformed HTTP"):
		return driver.RemedyAddress, driver.ErrUnavailable
	}
	return "", driver.ErrUnavailable
}

// failed returns the error for a reply that is neither what was asked for nor about the entry.
func (s *Store) failed(r *answer) error {
	st := statusOf(r)
	reason := st.Message
	if reason == "" { // not of the API
		reason = strings.Join(strings.Fields(strings.ToValidUTF8(string(r.body[:min(len(r.body), 1000)]), "?")), " ")
		if len(reason) > 300 {
			reason = strings.ToValidUTF8(reason[:300], "") + "…"
		}
		reason = cmp.Or(reason, http.StatusText(r.status), "nothing")
	}
	if code, said, ok := strings.Cut(reason, " desc = "); ok && strings.HasPrefix(code, "rpc error: code = ") {
		reason = said // of etcd, passed on by the API server
	}
	kind := driver.ErrUnavailable
	if r.status == http.StatusUnauthorized || r.status == http.StatusForbidden || r.status == http.StatusNotFound {
		kind = driver.ErrRefused
	}
	return &driver.Error{Err: fmt.Errorf("%w: the API says %d: %s", kind, r.status, s.hide(reason)), Remedy: remedyFor(r.status, st)}
}

func remedyFor(code int, st status) driver.Remedy {
	has := func(part string) bool { return strings.Contains(st.Message, part) }
	switch {
	case st.terminating():
		return driver.RemedyMove
	case st.noNamespace():
		return driver.RemedyCreate
	// A webhook or a policy may refuse with any code.
	case code == http.StatusUnprocessableEntity, has(" denied the request"), has(" denied request"), has("exceeded quota"):
		return driver.RemedySettings
	// A request without a token is of the user system:anonymous, who must not get rights.
	case code == http.StatusUnauthorized, has("\"system:anonymous\""), code == http.StatusForbidden && st.Kind != "":
		return driver.RemedyPermissions
	case code/100 == 3, (code == http.StatusBadRequest || code == http.StatusForbidden) && st.Kind == "", code == http.StatusNotFound:
		return driver.RemedyAddress // not the API server
	case code == http.StatusConflict: // something else than the entry was changed meanwhile
		return driver.RemedyWait
	case code >= 500: // the API server does not answer without its etcd
		return driver.RemedyConnect
	}
	return driver.RemedySettings
}

// Package web serves IDs by HTTP, and the page of the server.
//
// [server.ServeHTTP] checks the host of a request, and the ServeMux finds the route. [route.ServeHTTP] checks the method,
// the origin and the token. The functions of routes return errors. [server.refuse] makes answers of all errors, from the
// table of package reason.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// A Config says what New serves. Only Set is required.
type Config struct {
	Set    *supply.Set
	Access *access.Access // nil means no tokens
	MaxIDs int            // how many IDs a request may ask for; 0 means supply.DefaultIDs
	Calls  *metrics.Calls // counts the answers of the paths under /v1; nil counts nothing
	Log    *slog.Logger   // nil means no log

	// Metrics serves /metrics. A nil Metrics means that the path does not exist.
	Metrics http.Handler

	// Hosts are the names that the header Host may have, without a port and in any case. Addresses and localhost are
	// always answered.
	Hosts []string

	// Draining reports whether the server is stopping: /readyz then answers 503. nil means never.
	Draining func() bool
}

// Longest is the length of the longest path and query that a request may have, in bytes.
const Longest = 2048

type server struct {
	Config
	mux     http.ServeMux
	short   *route // of idsPattern
	began   time.Time
	host    atomic.Pointer[string] // the host of the last request that had another: most requests have the same
	names   map[string]bool        // the hosts in lower case
	outlets map[string]*outlet     // by the names of the generators
	large   chan struct{}          // has a value for each large answer under way
}

// New returns the handler of a Config. The handler needs an http.Server with time-outs: it waits for slow clients.
func New(c Config) http.Handler {
	if c.Access == nil {
		c.Access = &access.Access{}
	}
	if c.MaxIDs == 0 {
		c.MaxIDs = supply.DefaultIDs
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Draining == nil {
		c.Draining = func() bool { return false }
	}
	s := &server{Config: c, began: time.Now(), names: map[string]bool{}, outlets: map[string]*outlet{}}
	for _, name := range c.Hosts {
		s.names[bare(name)] = true
	}
	for _, g := range c.Set.All() {
		s.outlets[g.Name] = newOutlet(g)
	}
	s.large = make(chan struct{}, largeAnswers(c.MaxIDs))

	for pattern, of := range s.routes() {
		of.server = s
		s.mux.Handle(pattern, &of)
		if pattern == idsPattern {
			s.short = &of
		}
	}
	return s
}

// routes returns the routes by their patterns.
func (s *server) routes() map[string]route {
	const get, look = "GET", "GET, HEAD"
	all := map[string]route{
		idsPattern:              {methods: get, serve: s.ids, api: true}, // HEAD would make IDs for nobody
		"/v1/generators/{name}": {methods: look, serve: s.looking(s.generator), api: true},
		"/v1/generators":        {methods: look, serve: s.looking(s.generators), api: true},
		"/v1/inspect/{id}":      {methods: look, serve: s.looking(s.inspect), api: true},
		"/openapi.json":         {methods: look, serve: file("openapi.json", "application/json")},
		"/healthz":              {methods: look, serve: s.healthz},
		"/readyz":               {methods: look, serve: s.readyz},
		"/{$}":                  {methods: look, serve: file("page/index.html", "text/html; charset=utf-8")},
		"/page.css":             {methods: look, serve: file("page/page.css", "text/css; charset=utf-8")},
		"/page.js":              {methods: look, serve: file("page/page.js", "text/javascript; charset=utf-8")},
		"/icon.svg":             {methods: look, serve: file("page/icon.svg", "image/svg+xml")},
		"/": {methods: "", serve: func(http.ResponseWriter, *http.Request, *access.Bearer) error {
			return noPath()
		}},
	}
	if s.Metrics != nil {
		all["/metrics"] = route{methods: look, token: true, serve: s.looking(
			func(w http.ResponseWriter, r *http.Request) error {
				s.Metrics.ServeHTTP(w, r)
				return nil
			})}
	}
	return all
}

func noPath() error {
	return reason.NoPath.New("no such path: /openapi.json describes the paths of this server")
}

// A Conn is what the handler has to know of a connection, and tells it.
type Conn interface {
	Known()     // the client has sent a token
	Full() bool // the connection is beyond the limit, and gets health and metrics
}

// connKey is the key of the Conn in the context of a request.
type connKey struct{}

// WithConn returns a context for the requests of a connection. It is for ConnContext of an http.Server.
func WithConn(ctx context.Context, c Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// ends is the value of the header Connection of an answer that is the last one of its connection.
var ends = []string{"close"}

// ServeHTTP refuses what no path may get, and passes all other requests to the ServeMux.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	c, ok := r.Context().Value(connKey{}).(Conn)
	full := ok && c.Full()
	if full || s.Access.Needed() { // route.answer takes the header back for a client with a token
		w.Header()["Connection"] = ends
	}
	switch {
	case full && !health[r.URL.Path]:
		err = reason.Connections.New("the server has as many connections as its limit allows")
	case !s.hosted(r.Host):
		err = reason.Host.New("this server does not answer for the host %q: use its address, or add the name to the hosts of its configuration", nameOf(r.Host))
	case len(r.URL.Path)+len(r.URL.RawQuery) > Longest:
		err = reason.Request.New("path and query have more than %d bytes", Longest)
	case !clean(r.URL):
		err = noPath() // the ServeMux would answer with a redirection of its own
	case s.named(r) != nil: // what the ServeMux would find, in a third of the time
		s.short.ServeHTTP(w, r)
		return
	default:
		s.mux.ServeHTTP(w, r)
		return
	}
	s.refuse(w, r, err)
}

// health are the paths that a connection beyond the limit gets.
var health = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// idsPattern is the pattern of nearly all requests.
const idsPattern = "/v1/generators/{name}/ids"

// named returns the generator of a request for IDs, and nil for a request for anything else, or with an unknown name.
func (s *server) named(r *http.Request) *outlet {
	rest, ok := strings.CutPrefix(r.URL.Path, "/v1/generators/")
	if !ok {
		return nil
	}
	name, ok := strings.CutSuffix(rest, "/ids")
	if !ok {
		return nil
	}
	return s.outlets[name]
}

// hosted reports whether the server answers requests with a value of the header Host. A page of another site whose
// name has come to mean this server's address sends the other site's name. An address cannot come to mean another
// address. Browsers always send the header, so a request without the header is from a program.
func (s *server) hosted(host string) bool {
	if last := s.host.Load(); host == "" || last != nil && *last == host {
		return true
	}
	if !s.answersFor(host) {
		return false
	}
	s.host.Store(&host)
	return true
}

// nameOf returns the name in a header Host, without the port, as the configuration has names.
func nameOf(host string) string { return bare((&url.URL{Host: host}).Hostname()) }

func (s *server) answersFor(host string) bool {
	if _, err := netip.ParseAddrPort(host); err == nil {
		return true
	}
	name := nameOf(host)
	if name == "localhost" || s.names[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// bare returns a name in the form that names are compared in.
func bare(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// clean reports whether a path is in the form that the ServeMux does not redirect.
func clean(u *url.URL) bool {
	p := u.Path
	if u.RawPath != "" {
		p = u.EscapedPath()
	}
	switch {
	case p == "" || p[0] != '/':
		return false
	case !strings.Contains(p, "//") && !strings.Contains(p, "/."): // nearly all paths
		return true
	}
	c := path.Clean(p)
	return c == p || len(c)+1 == len(p) && p[len(c)] == '/' // the slash at the end
}

// A route is what the paths of a pattern have in common.
type route struct {
	server  *server
	methods string // as the header Allow; "" means all
	api     bool   // of the paths under /v1, whose answers are counted
	token   bool   // needs a token, as the paths under /v1 do
	serve   func(http.ResponseWriter, *http.Request, *access.Bearer) error
}

func (of *route) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if of.api {
		began := time.Since(of.server.began) // takes half the time of time.Now
		if err := of.answer(w, r); err != nil {
			of.server.refuse(w, r, err)
		} else {
			of.server.Calls.Answered(1, time.Since(of.server.began)-began)
		}
		return
	}
	if err := of.answer(w, r); err != nil {
		of.server.refuse(w, r, err)
	}
}

func (of *route) answer(w http.ResponseWriter, r *http.Request) error {
	b, bad := of.server.enter(r)
	if b != nil {
		c, ok := r.Context().Value(connKey{}).(Conn)
		if ok {
			c.Known()
		}
		if !ok || !c.Full() {
			delete(w.Header(), "Connection")
		}
	}
	if r.Method != "GET" && of.methods != "" && (r.Method != "HEAD" || of.methods == "GET") {
		w.Header().Set("Allow", of.methods)
		return reason.Method.New("%s takes no %.20s: use GET", r.URL.EscapedPath(), r.Method)
	}
	if !of.api && !of.token {
		return of.serve(w, r, nil)
	}
	if err := ownSite(r); err != nil {
		return err
	}
	if r.ContentLength != 0 {
		return reason.Request.New("the request has a body, which nobody reads: put n into the query, as in ?n=100")
	}
	if bad != nil {
		return bad
	}
	return b.Tell(of.serve(w, r, b))
}

// ownSite returns an error for a request that a page of another origin makes: such a page could take IDs by the
// thousands. Programs send neither header. Browsers send "none" for a typed address.
func ownSite(r *http.Request) error {
	if site := r.Header["Sec-Fetch-Site"]; len(site) > 0 && (len(site) > 1 || site[0] != "same-origin" && site[0] != "none") {
		return reason.Origin.New("the request comes from a page of another site, which this server does not answer")
	}
	if origin := r.Header["Origin"]; len(origin) > 0 {
		if u, err := url.Parse(origin[0]); len(origin) > 1 || err != nil || !strings.EqualFold(u.Host, r.Host) {
			return reason.Origin.New("the request comes from a page of the origin %.100q, which this server does not answer", origin[0])
		}
	}
	return nil
}

// enter returns the bearer of a request's token.
func (s *server) enter(r *http.Request) (*access.Bearer, error) {
	if !s.Access.Needed() {
		return nil, nil
	}
	values := r.Header["Authorization"]
	if len(values) == 0 {
		return nil, reason.Token.New("this server needs a token: send the header Authorization: Bearer TOKEN")
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return nil, reason.Token.New("the header Authorization has no token: send Authorization: Bearer TOKEN, once")
	}
	return s.Access.Enter(strings.TrimSpace(token))
}

// looking returns the function of a route that shows things, and makes no IDs.
func (s *server) looking(serve func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request, *access.Bearer) error {
	return func(w http.ResponseWriter, r *http.Request, b *access.Bearer) error {
		if err := b.MayRead(); err != nil {
			return err
		}
		return serve(w, r)
	}
}

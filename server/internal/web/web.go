// Package web serves IDs over HTTP, and the page of the server.
//
// [server.ServeHTTP] refuses what no path may get, and the ServeMux finds the route. [server.open] and [server.closed] call
// the functions of routes, which return errors. [server.refuse] turns all errors into answers, from the table of package
// reason.
package web

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"strings"
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
	mux   http.ServeMux
	names map[string]bool // the hosts in lower case
	large chan struct{}   // has a value for each large answer under way
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
	s := &server{Config: c, names: map[string]bool{}, large: make(chan struct{}, largeAnswers(c.MaxIDs))}
	for _, name := range c.Hosts {
		s.names[bare(name)] = true
	}
	for p, h := range s.routes() {
		s.mux.Handle("GET "+p, h)
		s.mux.Handle(p, s.open(onlyMethods("GET, HEAD")))
	}
	s.mux.Handle("GET "+idsPath, s.api(s.ids))
	s.mux.Handle("HEAD "+idsPath, s.open(onlyMethods("GET"))) // HEAD would make IDs for nobody
	s.mux.Handle(idsPath, s.open(onlyMethods("GET")))
	s.mux.Handle("/", s.open(func(http.ResponseWriter, *http.Request) error { return noPath() }))
	return s
}

const idsPath = "/v1/generators/{name}/ids"

// routes returns the handlers of GET and HEAD, by their paths.
func (s *server) routes() map[string]http.Handler {
	all := map[string]http.Handler{
		"/v1/generators/{name}": s.api(looking(s.generator)),
		"/v1/generators":        s.api(looking(s.generators)),
		"/v1/inspect/{id}":      s.api(looking(s.inspect)),
		"/openapi.json":         s.open(file("openapi.json", "application/json")),
		"/healthz":              s.open(s.healthz),
		"/readyz":               s.open(s.readyz),
		"/{$}":                  s.open(file("page/index.html", "text/html; charset=utf-8")),
		"/page.css":             s.open(file("page/page.css", "text/css; charset=utf-8")),
		"/page.js":              s.open(file("page/page.js", "text/javascript; charset=utf-8")),
		"/icon.svg":             s.open(file("page/icon.svg", "image/svg+xml")),
	}
	if s.Metrics != nil {
		all["/metrics"] = s.closed(looking(func(w http.ResponseWriter, r *http.Request) error {
			s.Metrics.ServeHTTP(w, r)
			return nil
		}))
	}
	return all
}

func noPath() error {
	return reason.NoPath.New("no such path: /openapi.json describes the paths of this server")
}

// onlyMethods refuses the methods that a path does not take. The ServeMux would answer without a reason.
func onlyMethods(allow string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Allow", allow)
		return reason.Method.New("%s takes no %.20s: use GET", r.URL.EscapedPath(), r.Method)
	}
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

// ServeHTTP refuses what no path may get, and passes all other requests to the ServeMux.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	c, ok := r.Context().Value(connKey{}).(Conn)
	full := ok && c.Full()
	if full || s.Access.Needed() { // server.enter takes the header back for a client with a token
		w.Header().Set("Connection", "close")
	}
	switch {
	case full && !health[r.URL.Path]:
		err = reason.Connections.New("the server has as many connections as its limit allows")
	case !s.hosted(r.Host):
		err = reason.Host.New("this server does not answer for the host %q: use its address, or add the name to the hosts of its configuration", nameOf(r.Host))
	case len(r.URL.Path)+len(r.URL.RawQuery) > Longest:
		err = reason.Request.New("path and query have more than %d bytes", Longest)
	case !clean(r.URL.EscapedPath()):
		err = noPath()
	default:
		s.mux.ServeHTTP(w, r)
		return
	}
	s.refuse(w, r, err)
}

// health are the paths that a connection beyond the limit gets.
var health = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// hosted reports whether the server answers requests with a value of the header Host. A page of another site whose
// name has come to mean this server's address sends the other site's name. An address cannot come to mean another
// address. Browsers always send the header, so a request without the header is from a program.
func (s *server) hosted(host string) bool {
	name := nameOf(host)
	if host == "" || name == "localhost" || s.names[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil
}

// nameOf returns the name in a header Host, without the port, as the configuration has names.
func nameOf(host string) string { return bare((&url.URL{Host: host}).Hostname()) }

// bare returns a name in the form that names are compared in.
func bare(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// clean reports whether a path is in the form that the ServeMux does not redirect.
func clean(p string) bool {
	c := path.Clean(p)
	return strings.HasPrefix(p, "/") && (c == p || c != "/" && c+"/" == p)
}

// A handler serves a path. Its errors are of the table of package reason.
type handler func(http.ResponseWriter, *http.Request) error

// A bearerHandler is a handler that knows whose token a request has.
type bearerHandler func(http.ResponseWriter, *http.Request, *access.Bearer) error

// open returns the handler of a path that needs no token.
func (s *server) open(serve handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = s.enter(w, r)
		if err := serve(w, r); err != nil {
			s.refuse(w, r, err)
		}
	}
}

// closed returns the handler of a path that needs a token, if the server has tokens.
func (s *server) closed(serve bearerHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		b, err := s.enter(w, r)
		if err = cmp.Or(ownSite(r), noBody(r), err); err == nil {
			err = b.Tell(serve(w, r, b))
		}
		if err != nil {
			s.refuse(w, r, err)
		}
	}
}

// api is closed for the paths under /v1, whose answers are counted.
func (s *server) api(serve bearerHandler) http.HandlerFunc {
	return s.closed(func(w http.ResponseWriter, r *http.Request, b *access.Bearer) error {
		began := time.Now()
		err := serve(w, r, b)
		if err == nil {
			s.Calls.Answered(1, time.Since(began))
		}
		return err
	})
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

// noBody returns an error for a request with a body.
func noBody(r *http.Request) error {
	if r.ContentLength != 0 {
		return reason.Request.New("the request has a body, which nobody reads: put n into the query, as in ?n=100")
	}
	return nil
}

// enter returns the bearer of a request's token, whose connection goes on.
func (s *server) enter(w http.ResponseWriter, r *http.Request) (*access.Bearer, error) {
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
	b, err := s.Access.Enter(strings.TrimSpace(token))
	if err != nil {
		return nil, err
	}
	c, ok := r.Context().Value(connKey{}).(Conn)
	if ok {
		c.Known()
	}
	if !ok || !c.Full() {
		w.Header().Del("Connection")
	}
	return b, nil
}

// looking returns the function of a route that shows things, and makes no IDs.
func looking(serve handler) bearerHandler {
	return func(w http.ResponseWriter, r *http.Request, b *access.Bearer) error {
		if err := b.MayRead(); err != nil {
			return err
		}
		return serve(w, r)
	}
}

// Package pretend is an HTTP server for tests that loses, delays, repeats and counts requests. Package kubetest
// adds the answers of Kubernetes.
package pretend

import (
	"encoding/json"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"time"
)

// A Fault is what happens to a request or its reply.
type Fault int

const (
	None      Fault = iota
	Cut             // the connection is cut before the request is handled
	LoseReply       // the request is handled, and the connection cut before the reply
	HalfReply       // the request is handled, and the connection cut in the middle of the reply
	Twice           // the request is handled twice, and the second reply is sent
	Hang            // the request is handled, and no reply is sent
)

// An Answer is a reply to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// JSON returns an answer whose body is a value in JSON.
func JSON(status int, v any) *Answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return &Answer{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// Text returns an answer whose body is a text.
func Text(status int, text string) *Answer {
	return &Answer{Status: status, Header: http.Header{}, Body: []byte(text)}
}

// A Handler answers a request. Handlers are called one at a time. A Handler that has written the
// reply to w returns nil.
type Handler func(w http.ResponseWriter, r *http.Request, body []byte) *Answer

// A Server calls the Handler and makes faults. Set the exported fields before the first request or
// in [Server.Do]. Fields may be nil.
type Server struct {
	Fault  func(*http.Request) Fault    // chooses the fault of a request
	Answer func(*http.Request) *Answer  // answers instead of the Handler, unless the answer is nil
	Filter func(*http.Request, *Answer) // changes an answer before the reply

	mu      sync.Mutex
	handle  Handler
	changed chan struct{} // closed by the next change
	ends    chan struct{} // closed when the test ends
	counts  map[string]int
}

// New returns a server. Start starts the server.
func New(handle Handler) *Server {
	return &Server{handle: handle, changed: make(chan struct{}), ends: make(chan struct{}), counts: make(map[string]int)}
}

// Start serves on a port of this machine until the test ends.
func (s *Server) Start(t interface{ Cleanup(func()) }) *httptest.Server {
	return s.StartWith(t, (*httptest.Server).Start)
}

// StartWith is like [Server.Start], but calls start to start the server, such as
// [httptest.Server.StartTLS].
func (s *Server) StartWith(t interface{ Cleanup(func()) }, start func(*httptest.Server)) *httptest.Server {
	web := httptest.NewUnstartedServer(s)
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	start(web)
	t.Cleanup(func() { s.Do(func() { close(s.ends) }); web.Close() })
	return web
}

// Do calls f while no request is handled.
func (s *Server) Do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// Count returns the number of requests so far with a method and a path, such as "GET /version".
func (s *Server) Count(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[request]
}

// Changed wakes the handlers that wait in [Server.Await]. Call Changed in a Handler or in
// [Server.Do].
func (s *Server) Changed() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await has a Handler wait for the next change while other requests are handled. Await returns
// false if instead the timer fires, the client leaves, or the test ends.
func (s *Server) Await(r *http.Request, timer *time.Timer) bool {
	changed := s.changed
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-changed:
		return true
	case <-timer.C:
	case <-r.Context().Done():
	case <-s.ends:
	}
	return false
}

// ServeHTTP handles a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		return
	}
	s.mu.Lock()
	s.counts[r.Method+" "+r.URL.Path]++
	filter, fault, answer := s.Filter, None, (*Answer)(nil)
	if s.Fault != nil {
		fault = s.Fault(r)
	}
	if s.Answer != nil {
		answer = s.Answer(r)
	}
	s.mu.Unlock()
	if fault == Cut {
		panic(http.ErrAbortHandler)
	}
	if answer == nil {
		handle := func() { s.Do(func() { answer = s.handle(w, r, body) }) }
		handle()
		if answer != nil && fault == Twice {
			handle()
		}
		if answer == nil {
			return
		}
	}
	if filter != nil {
		filter(r, answer)
	}
	switch fault {
	case LoseReply:
		panic(http.ErrAbortHandler)
	case Hang:
		select {
		case <-s.ends:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), answer.Header)
	if fault == HalfReply {
		w.Header().Set("Content-Length", strconv.Itoa(len(answer.Body)+1))
	}
	w.WriteHeader(answer.Status)
	w.Write(answer.Body)
	if fault == HalfReply {
		panic(http.ErrAbortHandler)
	}
}

package pretend

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/wait"
)

// TestFaults makes one request with each fault but Hang.
func TestFaults(t *testing.T) {
	handled := 0
	s := New(func(_ http.ResponseWriter, _ *http.Request, body []byte) *Answer {
		handled++
		return Text(200, strings.Repeat(string(body), handled))
	})
	url := s.Start(t).URL
	for _, c := range []struct {
		fault   Fault
		handled int
		reply   string // "" for none
	}{
		{None, 1, "x"}, {Cut, 0, ""}, {LoseReply, 1, ""}, {HalfReply, 1, ""}, {Twice, 2, "xx"},
	} {
		s.Do(func() { handled, s.Fault = 0, func(*http.Request) Fault { return c.fault } })
		reply, err := post(t.Context(), url+"/a")
		if c.reply != "" && (err != nil || reply != c.reply) || c.reply == "" && err == nil {
			t.Errorf("fault %d: the reply is %q, %v; want %q", c.fault, reply, err, c.reply)
		}
		s.Do(func() {
			if handled != c.handled {
				t.Errorf("fault %d: the request was handled %d times, want %d", c.fault, handled, c.handled)
			}
		})
		http.DefaultClient.CloseIdleConnections()
	}
	if n := s.Count("POST /a"); n != 5 {
		t.Errorf("%d requests were counted, want 5", n)
	}
}

// post makes a request with the body x, and returns the reply.
func post(ctx context.Context, url string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("x"))
	if err != nil {
		return "", err
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	return string(body), err
}

// A brief test ends when end is called.
type brief struct{ cleanups []func() }

func (b *brief) Cleanup(f func()) { b.cleanups = append(b.cleanups, f) }

func (b *brief) end() {
	for _, f := range b.cleanups {
		f()
	}
}

// TestHang makes requests that are handled and get no reply, until the client leaves or the server's
// test ends. A server that ends waits for all replies, so a reply cannot come later.
func TestHang(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		handled := make(chan string, 10)
		s := New(func(_ http.ResponseWriter, _ *http.Request, body []byte) *Answer {
			handled <- string(body)
			return Text(200, "reply")
		})
		s.Fault = func(*http.Request) Fault { return Hang }
		var test brief
		url := s.Start(&test).URL
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			reply, err := post(ctx, url)
			if err == nil {
				err = errors.New("the reply is " + reply)
			}
			ended <- err
		}()
		if body, _ := wait.Receive(t, "the request", handled); body != "x" {
			t.Errorf("the request is %q", body)
		}
		if leaves {
			leave()
		} else {
			test.end()
		}
		if err, _ := wait.Receive(t, "the end of the request", ended); errors.Is(err, context.Canceled) != leaves || strings.Contains(err.Error(), "reply") {
			t.Errorf("the client leaves: %v; the request ends with %v", leaves, err)
		}
		if leaves {
			test.end() // returns, since the server does not wait for a client that has left
		}
		leave()
		if len(handled) > 0 {
			t.Error("the request was handled again")
		}
	}
}

// TestChanges replaces an answer, and changes a request and a reply.
func TestChanges(t *testing.T) {
	s := New(func(_ http.ResponseWriter, _ *http.Request, body []byte) *Answer { return JSON(200, string(body)) })
	url := s.Start(t).URL
	for want, set := range map[string]func(){
		`"x"`:  func() {},
		"else": func() { s.Answer = func(*http.Request) *Answer { return Text(404, "else") } },
		`"y"`:  func() { s.Change = func(_ *http.Request, body *[]byte) { *body = []byte("y") } },
		"z":    func() { s.Filter = func(_ *http.Request, a *Answer) { a.Body = []byte("z") } },
	} {
		s.Do(func() { s.Answer, s.Change, s.Filter = nil, nil, nil; set() })
		r, err := http.Post(url, "", strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || string(body) != want || (want == "else") != (r.StatusCode == 404) {
			t.Errorf("the reply is %d %s, %v; want %s", r.StatusCode, body, err, want)
		}
	}
}

// TestAwait has a handler wait for a change by another request, and for none.
func TestAwait(t *testing.T) {
	var s *Server
	limit := wait.Patience
	waits := 0
	s = New(func(_ http.ResponseWriter, r *http.Request, _ []byte) *Answer {
		if r.Method == http.MethodPost {
			s.Changed()
			return Text(200, "changed")
		}
		timer := time.NewTimer(limit)
		defer timer.Stop()
		waits++ // nothing else is handled before the wait begins
		if s.Await(r, timer) {
			return Text(200, "told")
		}
		return Text(200, "nothing")
	})
	url := s.Start(t).URL
	get := func() (string, error) {
		r, err := http.Get(url)
		if err != nil {
			return "", err
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		return string(body), err
	}
	told := make(chan error, 1)
	go func() {
		reply, err := get()
		if err == nil && reply != "told" {
			err = errors.New(reply)
		}
		told <- err
	}()
	wait.Until(t, "the handler waits", func() (begun bool) {
		s.Do(func() { begun = waits == 1 })
		return begun
	})
	if reply, err := post(t.Context(), url); reply != "changed" || err != nil {
		t.Errorf("the request that changes: %q, %v", reply, err)
	}
	if err, _ := wait.Receive(t, "the reply after the change", told); err != nil {
		t.Error(err)
	}
	s.Do(func() { limit = time.Millisecond })
	if reply, err := get(); reply != "nothing" || err != nil {
		t.Errorf("without a change: %q, %v", reply, err)
	}
}

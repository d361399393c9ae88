package pretend

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestFaults makes one request with each fault.
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
		{None, 1, "x"}, {Cut, 0, ""}, {LoseReply, 1, ""}, {HalfReply, 1, ""}, {Twice, 2, "xx"}, {Hang, 1, ""},
	} {
		s.Do(func() { handled, s.Fault = 0, func(*http.Request) Fault { return c.fault } })
		client := http.Client{Timeout: 200 * time.Millisecond}
		if c.reply != "" {
			client.Timeout = time.Minute
		}
		reply := ""
		r, err := client.Post(url+"/a", "", strings.NewReader("x"))
		if err == nil {
			var body []byte
			body, err = io.ReadAll(r.Body)
			r.Body.Close()
			reply = string(body)
		}
		if c.reply != "" && (err != nil || reply != c.reply) || c.reply == "" && err == nil {
			t.Errorf("fault %d: the reply is %q, %v; want %q", c.fault, reply, err, c.reply)
		}
		s.Do(func() {
			if handled != c.handled {
				t.Errorf("fault %d: the request was handled %d times, want %d", c.fault, handled, c.handled)
			}
		})
		client.CloseIdleConnections()
	}
	if n := s.Count("POST /a"); n != 6 {
		t.Errorf("%d requests were counted, want 6", n)
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
	wait := time.Minute
	s = New(func(_ http.ResponseWriter, r *http.Request, _ []byte) *Answer {
		if r.Method == http.MethodPost {
			s.Changed()
			return Text(200, "changed")
		}
		timer := time.NewTimer(wait)
		defer timer.Stop()
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
	told := make(chan error)
	go func() {
		reply, err := get()
		if err == nil && reply != "told" {
			err = errors.New(reply)
		}
		told <- err
	}()
	for done := false; !done; {
		r, err := http.Post(url, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		select {
		case err := <-told:
			if err != nil {
				t.Error(err)
			}
			done = true
		case <-time.After(time.Millisecond): // the other request may not wait yet
		}
	}
	s.Do(func() { wait = time.Millisecond })
	if reply, err := get(); reply != "nothing" || err != nil {
		t.Errorf("without a change: %q, %v", reply, err)
	}
}

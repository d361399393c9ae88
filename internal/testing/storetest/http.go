package storetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/firn-id/firn/internal/testing/pretend"
	"github.com/firn-id/firn/lease/driver"
)

// Replies has a server give each of the answers to all requests. The error of a Put must have the
// parts. No call of the store may take an answer for a conflict or for a missing entry. The entry
// "a" must be at the revision.
func Replies(t *testing.T, server *pretend.Server, s driver.Store, rev driver.Revision, answers map[*pretend.Answer][]string) {
	t.Helper()
	for answer, parts := range answers {
		answer.Header.Set("Retry-After", "3600") // a store that tries again has no time for another answer
		server.Do(func() { server.Answer = func(*http.Request) *pretend.Answer { return answer } })
		_, getErr := s.Get(t.Context(), "a")
		_, listErr := s.List(t.Context(), "")
		_, putErr := s.Put(t.Context(), "a", []byte("y"), rev)
		Fails(t, "the error", putErr, driver.ErrUnavailable, parts...)
		for _, err := range []error{getErr, listErr, putErr} {
			Fails(t, "the error", err, driver.ErrUnavailable)
			if errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrNotFound) {
				t.Errorf("%d %s is %v", answer.Status, answer.Body, err)
			}
		}
	}
	server.Do(func() { server.Answer = nil })
}

// Faults loses, delays and repeats requests that write, and the replies. The store must send each
// request once. Open the store with a time-out that no call reaches on a busy machine.
func Faults(t *testing.T, server *pretend.Server, s driver.Store) {
	t.Helper()
	requests := 0
	begin := func(fault pretend.Fault) context.Context {
		requests = 0
		ctx := expiring{t.Context(), make(chan struct{})}
		server.Do(func() {
			if fault == pretend.Hang {
				server.Filter = func(*http.Request, *pretend.Answer) { close(ctx.passed) }
			}
			server.Fault = func(r *http.Request) pretend.Fault {
				if r.Method == http.MethodGet {
					return pretend.None
				}
				requests++
				return fault
			}
		})
		return ctx
	}
	end := func() { server.Do(func() { server.Fault, server.Filter = nil, nil }) }
	for _, create := range []bool{true, false} {
		for fault, done := range map[pretend.Fault]bool{pretend.Cut: false, pretend.LoseReply: true, pretend.HalfReply: true, pretend.Hang: true} {
			key, rev := fmt.Sprintf("fault-%v/%d", create, fault), driver.None
			if !create {
				rev = Put(t, s, key, "old", driver.None)
			}
			_, err := s.Put(begin(fault), key, []byte("new"), rev)
			end()
			Fails(t, "the error", err, driver.ErrUnavailable)
			if errors.Is(err, driver.ErrConflict) {
				t.Errorf("fault %d is a conflict: %v", fault, err)
			}
			if requests != 1 {
				t.Errorf("fault %d: the write was sent %d times", fault, requests)
			}
			e, err := s.Get(t.Context(), key)
			if (string(e.Value) == "new") != done || err != nil && (done || !create || !errors.Is(err, driver.ErrNotFound)) {
				t.Errorf("fault %d: %s is %q, %v; want it done: %v", fault, key, e.Value, err, done)
			}
		}
	}
	// A request that is handled twice is in conflict with itself.
	begin(pretend.Twice)
	_, err := s.Put(t.Context(), "twice", nil, driver.None)
	Fails(t, "the error", err, driver.ErrConflict)
	e, err := s.Get(t.Context(), "twice")
	check(t, err)
	_, err = s.Put(t.Context(), "twice", []byte("x"), e.Revision)
	end()
	Fails(t, "the error", err, driver.ErrConflict)
}

// An expiring context reaches its deadline when the channel is closed, whatever the time is.
type expiring struct {
	context.Context
	passed chan struct{}
}

func (c expiring) Done() <-chan struct{} { return c.passed }

func (c expiring) Err() error {
	select {
	case <-c.passed:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

package drivertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
)

// confirmer returns a handle that is a Confirmer, or skips the test.
func (s *space) confirmer() (driver.Store, driver.Confirmer) {
	s.Helper()
	h := s.open()
	c, ok := h.(driver.Confirmer)
	if !ok {
		s.Skip("the store cannot confirm")
	}
	return h, c
}

// wantConfirmed fails the test unless Confirm returns the entry.
func (s *space) wantConfirmed(c driver.Confirmer, key, value string, rev driver.Revision) {
	s.Helper()
	e, err := c.Confirm(s.Context(), key)
	if err != nil {
		s.Fatalf("Confirm(%s): %v", key, err)
	}
	if e.Key != key || string(e.Value) != value || e.Revision != rev {
		s.Fatalf("Confirm(%s) = %q, %s, revision %q; want %s, revision %q", key, e.Key, brief(e.Value), e.Revision, brief(value), rev)
	}
}

// confirm has handles change an entry in turn. Confirm shows each change that was made before the call,
// while other calls of Confirm are under way.
func confirm(s *space) {
	h, c := s.confirmer()
	other := s.open()
	if e, err := c.Confirm(s.Context(), "a"); !errors.Is(err, driver.ErrNotFound) {
		s.Errorf("Confirm of nothing: %s, %v; want an error that is ErrNotFound", brief(e.Value), err)
	}
	rev := driver.None
	for i, writer := range []driver.Store{h, other, other, h, other} {
		rev = s.put(writer, "a", fmt.Sprint(i), rev)
		s.wantConfirmed(c, "a", fmt.Sprint(i), rev)
		s.wantConfirmed(other.(driver.Confirmer), "a", fmt.Sprint(i), rev)
	}
	s.confirmUnderWay(c, other, rev)

	for _, key := range []string{"", "A", "/a", "a/", ".a", "a "} {
		if e, err := c.Confirm(s.Context(), key); !errors.Is(err, driver.ErrKey) {
			s.Errorf("Confirm(%q) = %s, %v; want an error that is ErrKey", key, brief(e.Value), err)
		}
	}
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if e, err := c.Confirm(ctx, "a"); !errors.Is(err, context.Canceled) {
		s.Errorf("Confirm with a cancelled context: %s, %v; want an error that is context.Canceled", brief(e.Value), err)
	}
	last := s.fresh()
	s.wantConfirmed(last.(driver.Confirmer), "a", "last", s.put(other, "a", "last", revisionOf(s, other, "a")))
	if err := last.Close(); err != nil {
		s.Fatalf("Close: %v", err)
	}
	if e, err := last.(driver.Confirmer).Confirm(s.Context(), "a"); err == nil {
		s.Errorf("Confirm of a closed handle: %s", brief(e.Value))
	}
}

// confirmUnderWay changes an entry while calls of Confirm are always under way.
func (s *space) confirmUnderWay(c driver.Confirmer, writer driver.Store, rev driver.Revision) {
	s.Helper()
	var all sync.WaitGroup
	var over atomic.Bool
	began := make(chan struct{}, 4)
	for range cap(began) {
		all.Go(func() {
			began <- struct{}{}
			for !over.Load() {
				if _, err := c.Confirm(s.Context(), "a"); err != nil {
					s.Errorf("Confirm: %v", err)
					return
				}
			}
		})
	}
	for range cap(began) {
		<-began
	}
	defer all.Wait()
	defer over.Store(true)
	for i := range 50 {
		runtime.Gosched()
		value := fmt.Sprint("under way ", i)
		rev = s.put(writer, "a", value, rev)
		s.wantConfirmed(c, "a", value, rev) // a look from before the change would show the last value
	}
}

// CutOff tests that a [driver.Confirmer] confirms nothing by a server that was cut off, and that other
// servers have replaced. Old is a handle on the server alone. The function cut cuts the server off from
// other servers, but not from old, and returns a handle on the successor.
//
// After a change by the successor, Confirm of old must fail or return the change.
func CutOff(t testing.TB, old driver.Store, cut func() (successor driver.Store)) {
	t.Helper()
	const key = "cut/off"
	confirmer, ok := old.(driver.Confirmer)
	if !ok {
		t.Fatal("the store cannot confirm")
	}
	rev, err := old.Put(t.Context(), key, []byte("before"), driver.None)
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	if e, err := confirmer.Confirm(t.Context(), key); err != nil || e.Revision != rev {
		t.Fatalf("Confirm before the server is cut off: revision %q, %v; want %q", e.Revision, err, rev)
	}
	var changed, over atomic.Bool
	look := func() {
		after := changed.Load()
		if e, err := confirmer.Confirm(t.Context(), key); after && err == nil && e.Revision == rev {
			t.Errorf("the server that was cut off has confirmed %s, which its successor had changed before the call", brief(e.Value))
		}
	}
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		for !over.Load() {
			look()
			runtime.Gosched()
		}
		for range 3 {
			look()
		}
	})
	defer over.Store(true)
	successor := cut()
	wait.Until(t, "the successor has changed the entry", func() bool {
		_, err := successor.Put(t.Context(), key, []byte("after"), rev)
		return err == nil || errors.Is(err, driver.ErrConflict) // of an earlier try that was made
	})
	changed.Store(true)
	if e, err := successor.Get(t.Context(), key); err != nil || string(e.Value) != "after" {
		t.Errorf("the successor has %s, %v", brief(e.Value), err)
	}
}

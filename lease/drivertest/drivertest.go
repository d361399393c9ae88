// Package drivertest is what every store of leases has to pass: tests of
// [driver.Store], and random histories of several clients that Porcupine checks to be
// those of registers with compare-and-swap.
//
// It cannot see a crash of a machine. A store's own tests show that what Put
// acknowledged is durable.
package drivertest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// Run tests a store. Each test calls newSpace once, for what opens handles on one fresh
// store without entries, each like that of one more process. Run closes the handles.
//
// The secrets are parts of the store's configuration, such as a password, that none of
// its texts may show.
func Run(t *testing.T, newSpace func(t *testing.T) (open func() driver.Store), secrets ...string) {
	run(t, checks, newSpace, secrets)
}

func run(t *testing.T, checks []check, newSpace func(t *testing.T) (open func() driver.Store), secrets []string) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			c.run(&space{T: t, fresh: newSpace(t), secrets: secrets})
		})
	}
}

// A check is one test of a suite.
type check struct {
	name string
	run  func(*space)
}

var checks = []check{
	{"Missing", missing},
	{"Create", create},
	{"Swap", swap},
	{"Revisions", revisions},
	{"OtherRevision", otherRevision},
	{"Values", values},
	{"Keys", keys},
	{"Copies", copies},
	{"List", list},
	{"ListMany", listMany},
	{"Nested", nested},
	{"Cancelled", cancelled},
	{"Handles", handles},
	{"Close", closed},
	{"Reopen", reopen},
	{"String", address},
	{"Clock", clock},
	{"Race", race},
	{"Counter", counter},
	{"History", histories},
}

// A space is a test and its store.
type space struct {
	*testing.T
	fresh   func() driver.Store
	secrets []string
}

// open returns a handle that is closed after the test.
func (s *space) open() driver.Store {
	h := s.fresh()
	s.Cleanup(func() {
		if err := h.Close(); err != nil {
			s.Errorf("Close: %v", err)
		}
	})
	return h
}

func (s *space) put(h driver.Store, key, value string, rev driver.Revision) driver.Revision {
	s.Helper()
	made, err := h.Put(s.Context(), key, []byte(value), rev)
	if err != nil {
		s.Fatalf("Put(%s, %s, revision %q): %v", key, brief(value), rev, err)
	}
	if made == driver.None || made == rev {
		s.Fatalf("Put(%s, %s, revision %q) made revision %q", key, brief(value), rev, made)
	}
	return made
}

// refuse is a Put that must fail and change nothing.
func (s *space) refuse(h driver.Store, key, value string, rev driver.Revision, want error) {
	s.Helper()
	before, beforeErr := h.Get(s.Context(), key)
	made, err := h.Put(s.Context(), key, []byte(value), rev)
	if !errors.Is(err, want) {
		s.Errorf("Put(%s, %s, revision %q): %q, %v; want an error that is %q", key, brief(value), rev, made, err, want)
	}
	after, afterErr := h.Get(s.Context(), key)
	if string(after.Value) != string(before.Value) || after.Revision != before.Revision || (afterErr == nil) != (beforeErr == nil) {
		s.Errorf("Put(%s, %s, revision %q) failed with %q, but changed %s at %q (%v) to %s at %q (%v)", key, brief(value), rev, err,
			brief(before.Value), before.Revision, beforeErr, brief(after.Value), after.Revision, afterErr)
	}
}

// want is a Get that must return an entry.
func (s *space) want(h driver.Store, key, value string, rev driver.Revision) {
	s.Helper()
	e, err := h.Get(s.Context(), key)
	if err != nil {
		s.Fatalf("Get(%s): %v", key, err)
	}
	if e.Key != key || string(e.Value) != value || e.Revision != rev {
		s.Fatalf("Get(%s) = %q, %s, revision %q; want %s, revision %q", key, e.Key, brief(e.Value), e.Revision, brief(value), rev)
	}
}

// wantNone is a Get that must find nothing.
func (s *space) wantNone(h driver.Store, key string) {
	s.Helper()
	if e, err := h.Get(s.Context(), key); !errors.Is(err, driver.ErrNotFound) {
		s.Fatalf("Get(%s) = %s, %v; want an error that is ErrNotFound", key, brief(e.Value), err)
	}
}

// wantList is a List that must return what Get returns for these keys.
func (s *space) wantList(h driver.Store, prefix string, keys []string) {
	s.Helper()
	list, err := h.List(s.Context(), prefix)
	if err != nil {
		s.Errorf("List(%q): %v", prefix, err)
		return
	}
	got := make([]string, len(list))
	for i, e := range list {
		got[i] = e.Key
	}
	if !slices.Equal(got, keys) {
		s.Errorf("List(%q) has the keys\n\t%q, want\n\t%q", prefix, got, keys)
		return
	}
	for _, e := range list {
		s.want(h, e.Key, string(e.Value), e.Revision)
	}
}

// within fails if a call hangs. The time is far longer than any call takes.
func (s *space) within(name string, call func()) {
	s.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		s.Fatalf("%s hangs", name)
	}
}

// brief quotes a value, or the beginning of a long one.
func brief[V string | []byte](value V) string {
	if len(value) > 40 {
		return fmt.Sprintf("%q... (%d bytes)", value[:40], len(value))
	}
	return fmt.Sprintf("%q", value)
}

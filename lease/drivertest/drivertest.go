// Package drivertest tests stores of leases. The author of a store takes these steps:
//
//  1. Write newSpace, a function that makes a fresh store without entries, such as an empty table,
//     and returns a function that opens handles on the store. Each handle stands for one more
//     process.
//  2. Call [Run] in a test. Run checks the contract of [driver.Store].
//  3. Call [RunLeases] in a test. RunLeases takes leases on the store, and renews and closes the
//     leases.
//  4. Call [History] while faults happen: stop the server, restart the server, cut the network.
//     History checks that the store stays correct although calls fail. [NewFaulty] has faults in
//     between without a server.
//  5. If the store is a [driver.Confirmer], call [CutOff] with a server that another server replaces.
//  6. If entries have a Place, call [Copied] for each kind of copy.
//  7. Test durability. No suite can see a crash of a machine: show that a change is on the disk
//     when Put returns.
//
// In short:
//
//	func TestStore(t *testing.T)  { drivertest.Run(t, newSpace, password) }
//	func TestLeases(t *testing.T) { drivertest.RunLeases(t, newSpace) }
package drivertest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
)

// Run tests a store. Each check calls newSpace once, and is a subtest:
//
//	Missing        an entry that was never created is not found, and no revision creates the entry
//	Create         Put with the revision None creates an entry, once
//	Swap           Put changes an entry only at the revision of the entry
//	Revisions      no revision of a key comes twice
//	OtherRevision  the revision of another key changes nothing
//	Values         values of all bytes, up to driver.MaxValue, come back unchanged
//	Keys           valid keys are entries of their own, and other keys are refused
//	Copies         the store shares no bytes with callers
//	List           List has the entries of a prefix, in the order of keys
//	ListMany       List has all of some hundred entries
//	Batch          CreateAll creates what does not exist, and GetAll has it, in a store that is a driver.Batcher
//	Nested         a key may begin with another key
//	Cancelled      a call whose context has ended changes nothing
//	Handles        a handle sees at once what another handle has written
//	Close          a closed handle returns errors, and other handles go on
//	Reopen         entries and revisions outlive all handles
//	Place          an entry keeps its Place, in all handles
//	String         no text shows a secret
//	Confirm        Confirm shows each change that was made before the call, in a store that is a driver.Confirmer
//	Clock          Now returns a time, in a store that is a driver.Clock
//	Race           of many changes at one revision, the store makes one
//	Counter        no change is lost while several clients count
//	History        random calls are linearizable: see History
//
// The secrets are parts of the configuration of the store, such as a password. No text of the store
// may show a secret. Run closes all handles.
func Run(t *testing.T, newSpace func(t *testing.T) (open func() driver.Store), secrets ...string) {
	run(t, checks, newSpace, secrets)
}

func run(t *testing.T, checks []check, newSpace func(t *testing.T) (open func() driver.Store), secrets []string) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			c.run(&space{TB: t, fresh: newSpace(t), secrets: secrets})
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
	{"Batch", batch},
	{"Nested", nested},
	{"Cancelled", cancelled},
	{"Handles", handles},
	{"Close", closed},
	{"Reopen", reopen},
	{"Place", place},
	{"String", address},
	{"Confirm", confirm},
	{"Clock", clock},
	{"Race", race},
	{"Counter", counter},
	{"History", histories},
}

// A space is a test and its store.
type space struct {
	testing.TB
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

// refuse fails the test unless a Put fails with the error, and changes nothing.
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

// want fails the test unless Get returns the entry.
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

// wantNone fails the test unless Get finds no entry.
func (s *space) wantNone(h driver.Store, key string) {
	s.Helper()
	if e, err := h.Get(s.Context(), key); !errors.Is(err, driver.ErrNotFound) {
		s.Fatalf("Get(%s) = %s, %v; want an error that is ErrNotFound", key, brief(e.Value), err)
	}
}

// wantList fails the test unless List returns the entries of the keys as Get returns the entries.
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

// within fails the test if a call hangs.
func (s *space) within(name string, call func()) {
	s.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	wait.Closed(s.TB, name+" returns", done)
}

// brief quotes a value, or the beginning of a long one.
func brief[V string | []byte](value V) string {
	if len(value) > 40 {
		return fmt.Sprintf("%q... (%d bytes)", value[:40], len(value))
	}
	return fmt.Sprintf("%q", value)
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

// Spaces returns a newSpace for the suites of drivertest. The n-th store is at the n-th address,
// and is prepared if the store is a [driver.Preparer]. The function handle returns a handle on the
// store at an address; nil means open.
func Spaces[S driver.Store](open func(context.Context, string) (S, error), address func(n int64) string,
	handle func(t *testing.T, addr string) driver.Store) func(*testing.T) func() driver.Store {
	if handle == nil {
		handle = func(t *testing.T, addr string) driver.Store {
			s, err := open(t.Context(), Patient(addr))
			check(t, err)
			return s
		}
	}
	var made atomic.Int64
	return func(t *testing.T) func() driver.Store {
		addr := address(made.Add(1))
		Prepare(t, open, addr).Close()
		return func() driver.Store { return handle(t, addr) }
	}
}

// Pages fails the test unless the store lists the entries that begin with pool/, so many, in order.
func Pages(t *testing.T, s driver.Store, many int) {
	t.Helper()
	list, err := s.List(t.Context(), "pool/")
	if err != nil || len(list) != many {
		t.Fatalf("List has %d entries of %d, %v", len(list), many, err)
	}
	for i, e := range list {
		if e.Key != fmt.Sprintf("pool/%05d", i) || string(e.Value) != fmt.Sprint(i) {
			t.Fatalf("entry %d is %s with %q", i, e.Key, e.Value)
		}
	}
}

// Damaged fails the test unless the entry of the key is damaged, comes last in the list, and is the
// only damaged entry. The error must have the parts. A Put at the revision in the list must replace
// the entry.
func Damaged(t *testing.T, s driver.Store, key string, parts ...string) {
	t.Helper()
	_, err := s.Get(t.Context(), key)
	Fails(t, "the error", err, driver.ErrDamaged, append(parts, "remedy: recover")...)
	list, err := s.List(t.Context(), "")
	Fails(t, "the error", err, driver.ErrDamaged)
	for i, e := range list {
		if last := i == len(list)-1; last != errors.Is(e.Err, driver.ErrDamaged) || last != (e.Key == key) || !last && e.Err != nil {
			t.Fatalf("List = %v", list)
		}
	}
	if len(list) == 0 {
		t.Fatal("List has nothing")
	}
	Want(t, s, key, "anew", Put(t, s, key, "anew", list[len(list)-1].Revision))
}

// Conflicts fails the test unless a Put of the entry "a", and a Put of a missing entry, are refused
// at each of the revisions.
func Conflicts(t *testing.T, s driver.Store, revisions ...driver.Revision) {
	t.Helper()
	before, beforeErr := s.List(t.Context(), "")
	for _, rev := range revisions {
		for _, key := range []string{"a", "new"} {
			_, err := s.Put(t.Context(), key, []byte("y"), rev)
			Fails(t, "the error", err, driver.ErrConflict)
		}
	}
	after, afterErr := s.List(t.Context(), "")
	if len(after) != len(before) || (afterErr == nil) != (beforeErr == nil) {
		t.Errorf("Puts that were refused have made %v (%v) into %v (%v)", before, beforeErr, after, afterErr)
	}
}

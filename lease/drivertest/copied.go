package drivertest

import (
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// place changes an entry, and reads it by two handles.
func place(s *space) {
	h, other := s.open(), s.open()
	rev := s.put(h, "a", "x", driver.None)
	first, err := h.Get(s.Context(), "a")
	if err != nil {
		s.Fatal(err)
	}
	s.put(other, "a", "y", rev)
	same := func(what string, e driver.Entry, err error) {
		s.Helper()
		if err != nil || e.Place != first.Place || len(e.Place) > driver.MaxPlace {
			s.Errorf("the place is %q in %s, and was %q (%v)", e.Place, what, first.Place, err)
		}
	}
	for _, h := range []driver.Store{h, other, s.open()} {
		e, err := h.Get(s.Context(), "a")
		same("another version", e, err)
		list, err := h.List(s.Context(), "")
		same("a list", list[0], err)
		if b, ok := h.(driver.Batcher); ok {
			list, err = b.GetAll(s.Context(), []string{"a"})
			same("a batch", list[0], err)
		}
	}
	if e, err := h.Get(s.Context(), "b"); !errors.Is(err, driver.ErrNotFound) || e.Place != "" && e.Place != first.Place {
		s.Errorf("the place of no entry is %q, and that of another %q (%v)", e.Place, first.Place, err)
	}
}

// Copied tests that a copy of a store is refused until it is adopted. The store has no pools. The function copied
// copies the store, and returns a handle on the copy.
func Copied(t testing.TB, store driver.Store, copied func() driver.Store) {
	t.Helper()
	if err := minter.Create(t.Context(), store); err != nil {
		t.Fatalf("creating a pool: %v", err)
	}
	starts := func(store driver.Store) error {
		_, l, err := minter.Start(t.Context(), store, lease.Config{Wait: -1})
		if err == nil {
			err = l.Close()
		}
		return err
	}
	if err := starts(store); err != nil {
		t.Fatalf("a lease: %v", err)
	}
	other := copied()
	if err := starts(other); !errors.Is(err, driver.ErrCopied) {
		t.Errorf("a lease in the copy: %v; want an error that is ErrCopied", err)
	}
	c := lease.RecoveryConfig{Window: time.Millisecond, Skew: time.Minute}
	if _, err := lease.RecoverPool(t.Context(), other, minter.Pool, c); !errors.Is(err, driver.ErrCopied) {
		t.Errorf("a recovery in the copy: %v; want an error that is ErrCopied", err)
	}
	c.Adopt = true
	if _, err := lease.RecoverPool(t.Context(), other, minter.Pool, c); err != nil {
		t.Errorf("adopting the copy: %v", err)
	}
	if err := starts(other); !errors.Is(err, lease.ErrNoWorker) {
		t.Errorf("a lease in the adopted copy, before the floor: %v; want an error that is ErrNoWorker", err)
	}
	if err := starts(store); err != nil {
		t.Errorf("a lease in the original: %v", err)
	}
}

package memlease

import (
	"errors"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// The module lease/drivertest tests the contract of stores.

func TestClosed(t *testing.T) {
	ctx := t.Context()
	s := New()
	other := s.Open()
	testkit.OK(t, s.Close())
	if _, err := s.Put(ctx, "a", nil, driver.None); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("Put on a closed store: %v, want ErrUnavailable", err)
	}
	if _, err := other.Get(ctx, "a"); !errors.Is(err, driver.ErrNotFound) {
		t.Errorf("Get by another handle: %v, want ErrNotFound", err)
	}
}

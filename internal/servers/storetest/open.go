package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// Refused opens a store at each of the addresses, and fails the test unless the errors have the parts. An error whose first
// part is "invalid address" must be [address.ErrAddress]. An error about a time-out must be [context.DeadlineExceeded].
func Refused[S driver.Store](t *testing.T, open func(context.Context, string) (S, error), addresses map[string][]string) {
	t.Helper()
	for addr, parts := range addresses {
		begin := time.Now()
		s, err := open(t.Context(), addr)
		if err == nil {
			s.Close()
			t.Errorf("%s was opened", addr)
			continue
		}
		WantError(t, err, driver.ErrUnavailable, parts...)
		if parts[0] == "invalid address" && !errors.Is(err, address.ErrAddress) {
			t.Errorf("%s: %v is not ErrAddress", addr, err)
		}
		if (parts[0] == "no answer in time" || parts[0] == "deadline exceeded") && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v is not DeadlineExceeded", addr, err)
		}
		if took := time.Since(begin); took > 30*time.Second { // far longer than any time-out
			t.Errorf("%s took %s", addr, took)
		}
	}
}

// Cancelled opens a store at the address of a server that does not answer, and cancels the context of the call.
func Cancelled[S driver.Store](t *testing.T, open func(context.Context, string) (S, error), addr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	begin := time.Now()
	s, err := open(ctx, addr+"?timeout=1m")
	if err == nil {
		s.Close()
	}
	Fails(t, "cancelled", err, driver.ErrUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if took := time.Since(begin); took > 30*time.Second { // half of the time-out
		t.Errorf("cancelled: it took %s", took)
	}
}

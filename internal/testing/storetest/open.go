package storetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
)

// With returns an address with settings added.
func With(addr string, settings ...string) string {
	for _, s := range settings {
		if strings.Contains(addr, "?") {
			addr += "&" + s
		} else {
			addr += "?" + s
		}
	}
	return addr
}

// Patient returns the address with the time-out [wait.Patience], unless the address says one. A test
// that is not about time-outs must not fail since a server, or a disk, is slow.
func Patient(addr string) string {
	if strings.Contains(addr, "?timeout=") || strings.Contains(addr, "&timeout=") {
		return addr
	}
	return With(addr, "timeout="+wait.Patience.String())
}

// Invalid opens a store at each of the addresses, all of which have mistakes, and fails the test
// unless the errors are [driver.ErrAddress] and have the parts.
func Invalid[S driver.Store](t *testing.T, open func(context.Context, string) (S, error), addresses map[string][]string) {
	t.Helper()
	refused(t, open, addresses, func([]string) error { return driver.ErrAddress })
}

// Refused opens a store at each of the addresses, and fails the test unless the errors have the
// parts. An error whose first part is "invalid address" must be [driver.ErrAddress]. An error
// about a time-out must be [context.DeadlineExceeded].
func Refused[S driver.Store](t *testing.T, open func(context.Context, string) (S, error), addresses map[string][]string) {
	t.Helper()
	refused(t, open, addresses, func(parts []string) error {
		switch parts[0] {
		case "invalid address":
			return driver.ErrAddress
		case "no answer in time", "deadline exceeded":
			return context.DeadlineExceeded
		}
		return driver.ErrUnavailable
	})
}

// refused fails the test unless each error is also the one that kind returns.
func refused[S driver.Store](t *testing.T, open func(context.Context, string) (S, error), addresses map[string][]string, kind func(parts []string) error) {
	t.Helper()
	for addr, parts := range addresses {
		err := opens(t.Context(), t, open, addr)
		if err == nil {
			t.Errorf("%s was opened", addr)
			continue
		}
		Fails(t, addr, err, driver.ErrUnavailable, parts...)
		if want := kind(parts); !errors.Is(err, want) {
			t.Errorf("%s: %v is not %v", addr, err, want)
		}
	}
}

// opens opens and closes a store, and fails the test if the call hangs.
func opens[S driver.Store](ctx context.Context, t *testing.T, open func(context.Context, string) (S, error), addr string) error {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		s, err := open(ctx, addr)
		if err == nil {
			s.Close()
		}
		done <- err
	}()
	err, _ := wait.Receive(t, "the result of opening "+addr, done)
	return err
}

// Cancelled opens a store at the address of a server that does not answer, and cancels the context
// of the call.
func Cancelled[S driver.Store](t *testing.T, open func(context.Context, string) (S, error), addr string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	err := opens(ctx, t, open, With(addr, "timeout=1h"))
	Fails(t, "cancelled", err, driver.ErrUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

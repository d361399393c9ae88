package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
)

// A Faulty is a store on a server of the test's own.
type Faulty[S driver.Store] struct {
	Server interface {
		Stop()
		Resume()
	}
	Open func(ctx context.Context, addr string) (S, error)
	Addr func(settings ...string) string // of the server's store, with settings added
	None driver.Revision                 // a revision of no entry
}

// Stopped stops the server for a while. Calls end in time, and the errors say so. The store works
// again when the server does. After Close all calls fail.
func (f Faulty[S]) Stopped(t *testing.T) {
	t.Helper()
	patient := Prepare(t, f.Open, f.Addr())
	rev := Put(t, patient, "a", "x", driver.None)
	var hasty S
	wait.Until(t, "a busy machine opens the store in time", func() bool {
		var err error
		hasty, err = f.Open(t.Context(), f.Addr("timeout=300ms"))
		return err == nil
	})
	defer hasty.Close()
	f.Server.Stop()
	late := func(call string, err error) {
		t.Helper()
		Fails(t, "stopped: "+call, err, driver.ErrUnavailable, "no answer in time", "remedy: connect")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("stopped: %s: %v is not DeadlineExceeded", call, err)
		}
	}
	abilities := map[string]func() error{}
	if s, ok := driver.Store(hasty).(driver.Clock); ok {
		abilities["now"] = func() error { _, err := s.Now(t.Context()); return err }
	}
	if s, ok := driver.Store(hasty).(driver.Inspector); ok {
		abilities["inspect"] = func() error { _, err := s.Inspect(t.Context()); return err }
	}
	if s, ok := driver.Store(hasty).(driver.Watcher); ok {
		abilities["watch"] = func() error { _, err := s.Watch(t.Context(), ""); return err }
	}
	for call, err := range Calls(t.Context(), hasty, f.None) {
		late(call, err)
	}
	for call, do := range abilities {
		late(call, do())
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := patient.Get(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	f.Server.Resume()
	for _, s := range []S{patient, hasty} {
		wait.Until(t, "it answers again", func() bool { _, err := s.Get(t.Context(), "a"); return err == nil })
	}
	Want(t, patient, "a", "x", rev)
	hasty.Close()
	CallsFail(t, hasty, f.None, "closed", driver.ErrUnavailable, "closed")
	for call, do := range abilities {
		Fails(t, "closed: "+call, do(), driver.ErrUnavailable, "closed")
	}
}

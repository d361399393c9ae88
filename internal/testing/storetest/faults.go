package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
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
		Kill()
		Run()
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

// Restart kills the server again and again while clients put. After the restart each acknowledged
// change is there, for stores opened before the restart and for stores opened after.
//
// Revisions of the store must begin with a growing number and a dot.
func (f Faulty[S]) Restart(t *testing.T) {
	t.Helper()
	s := Prepare(t, f.Open, f.Addr("timeout=2s"))
	const writers, rounds = 4, 5
	last := make([]driver.Entry, writers) // acknowledged
	for w := range writers {
		last[w].Key = fmt.Sprintf("w/%d", w)
	}
	for round := range rounds {
		var all, busy sync.WaitGroup
		for w := range writers {
			busy.Add(1)
			all.Go(func() {
				some := sync.OnceFunc(busy.Done)
				defer some()
				e, n := &last[w], 0
				put := func() bool {
					n++
					value := fmt.Sprintf("%d-%d", round, n)
					rev, err := s.Put(t.Context(), e.Key, []byte(value), e.Revision)
					if err == nil {
						e.Value, e.Revision = []byte(value), rev
					}
					return err == nil
				}
				again := func() bool { // a busy machine may take longer than the time-out
					if put() {
						return true
					}
					if is, err := s.Get(t.Context(), e.Key); err == nil {
						*e = is
					}
					return false
				}
				for range 10 {
					if !wait.For(again) {
						return
					}
				}
				some()
				for put() {
				}
			})
		}
		busy.Wait()
		f.Server.Kill()
		all.Wait()
		_, err := s.Get(t.Context(), "w/0")
		Fails(t, "killed", err, driver.ErrUnavailable, "remedy: connect")
		f.Server.Run()
		var fresh S
		wait.Until(t, "the server has its data", func() bool {
			fresh, err = f.Open(t.Context(), f.Addr())
			return err == nil
		})
		wait.Until(t, "the store is connected again", func() bool {
			_, err = s.Get(t.Context(), "w/0")
			return err == nil || errors.Is(err, driver.ErrUnsafe)
		})
		for w, was := range last {
			for _, s := range []S{fresh, s} {
				e, err := s.Get(t.Context(), was.Key)
				check(t, err)
				if was.Revision == driver.None {
					t.Fatalf("round %d: no Put of %s was acknowledged", round, was.Key)
				}
				if number(t, e.Revision) < number(t, was.Revision) || e.Revision == was.Revision && string(e.Value) != string(was.Value) {
					t.Errorf("round %d: %s was %s at %s, and is %s at %s", round, e.Key, was.Value, was.Revision, e.Value, e.Revision)
				}
				last[w] = e
			}
		}
		fresh.Close()
	}
}

// number returns the number that a revision begins with.
func number(t *testing.T, rev driver.Revision) int {
	t.Helper()
	first, _, _ := strings.Cut(string(rev), ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		t.Fatalf("the revision %q begins with no number", rev)
	}
	return n
}

// Forgotten restores old data of a server, as after a failover that lost changes. A store that has
// seen newer data refuses the server. A new store puts a change at the revision of the lost change,
// which the first store therefore must not take for its own. The function stop ends the server at
// once, and start starts it again. Forgotten returns the store that refuses the server.
func Forgotten[S driver.Store](t *testing.T, open func() S, data string, stop, start func()) S {
	t.Helper()
	s := open()
	rev := Put(t, s, "a", "0", driver.None)
	backup := t.TempDir()
	stop()
	check(t, os.CopyFS(backup, os.DirFS(data)))
	start()
	wait.Until(t, "the store is connected again", func() bool { _, err := s.Get(t.Context(), "a"); return err == nil })
	Want(t, s, "a", "0", rev) // after a crash of the process nothing is missing
	lost := Put(t, s, "a", "lost", rev)
	stop()
	check(t, os.RemoveAll(data), os.CopyFS(data, os.DirFS(backup)))
	start()
	wait.Until(t, "the loss is found out", func() bool { _, err := s.Get(t.Context(), "a"); return errors.Is(err, driver.ErrUnsafe) })
	other := open()
	Want(t, other, "a", "0", rev)
	if reused := Put(t, other, "a", "another", rev); reused != lost {
		t.Errorf("the change has revision %s, and the lost change had %s: the test shows nothing", reused, lost)
	}
	for range 2 {
		errs := Calls(t.Context(), s, lost)
		if w, ok := driver.Store(s).(driver.Watcher); ok {
			_, errs["watch"] = w.Watch(t.Context(), "")
		}
		for call, err := range errs {
			Fails(t, "set back: "+call, err, driver.ErrUnsafe, "forgotten", "remedy: restored")
		}
	}
	Want(t, other, "a", "another", lost)
	return s
}

// Package storetest is the common part of the tests of Firn's own stores: checks of entries,
// errors, findings and watches, servers of a test, and suites of faults. Package lease/drivertest
// has the suites for all stores.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// Secret begins each password and token of the tests. No error may show it.
const Secret = "hunter2"

// Open opens a store for the test. Calls have the time-out [wait.Patience] unless the address says
// another. The store is closed when the test ends.
func Open[S driver.Store](t testing.TB, open func(context.Context, string) (S, error), addr string) S {
	t.Helper()
	s, err := open(t.Context(), Patient(addr))
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Prepare opens a store as [Open] does, and prepares it if it is a [driver.Preparer].
func Prepare[S driver.Store](t testing.TB, open func(context.Context, string) (S, error), addr string) S {
	t.Helper()
	s := Open(t, open, addr)
	if p, ok := driver.Store(s).(driver.Preparer); ok {
		check(t, p.Prepare(t.Context()))
	}
	return s
}

// check ends the test if there is an error, as testkit.OK does, which only tests import.
func check(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// Put puts a value, and returns the new revision.
func Put(t testing.TB, s driver.Store, key, value string, rev driver.Revision) driver.Revision {
	t.Helper()
	made, err := s.Put(t.Context(), key, []byte(value), rev)
	check(t, err)
	return made
}

// Want fails the test unless the store has the value at the revision.
func Want(t testing.TB, s driver.Store, key, value string, rev driver.Revision) {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil || string(e.Value) != value || e.Revision != rev {
		t.Errorf("Get(%s) = %.40q at %q, %v; want %.40q at %q", key, e.Value, e.Revision, err, value, rev)
	}
}

// Lists fails the test unless the store lists so many entries, and none of them is damaged.
func Lists(t testing.TB, s driver.Store, entries int) {
	t.Helper()
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != entries {
		t.Errorf("List = %v, %v; want %d entries", list, err, entries)
	}
}

// Fails fails the test unless err is a whole [driver.Error] of the kind, with all the parts and no
// secret in the text, which ends with "remedy: " and what helps against the error. The argument what
// names the failed call.
func Fails(t testing.TB, what string, err, kind error, parts ...string) {
	t.Helper()
	e, ok := errors.AsType[*driver.Error](err)
	if !ok || !errors.Is(err, kind) || e.Store == "" || e.Op == "" {
		t.Errorf("%s: %v; want a *driver.Error that is %q", what, err, kind)
		return
	}
	text := fmt.Sprintf("%v; remedy: %s", err, lease.RemedyFor(err).Kind)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %s\nhas no %q", what, text, part)
		}
	}
	for _, never := range []string{"\n", Secret, "rpc error: code"} {
		if strings.Contains(text, never) {
			t.Errorf("%s: %q has %q", what, text, never)
		}
	}
	if testing.Verbose() {
		t.Logf("%s: %s", what, text)
	}
}

// Calls makes each call of a store once, and returns the errors by the names of the calls. No entry
// may have the revision none.
func Calls(ctx context.Context, s driver.Store, none driver.Revision) map[string]error {
	_, get := s.Get(ctx, "a")
	_, list := s.List(ctx, "")
	_, create := s.Put(ctx, "a", nil, driver.None)
	_, swap := s.Put(ctx, "a", nil, none)
	errs := map[string]error{"get": get, "list": list, "create": create, "swap": swap}
	if p, ok := s.(driver.Preparer); ok {
		errs["prepare"] = p.Prepare(ctx)
	}
	return errs
}

// CallsFail fails the test unless each of the [Calls] fails as [Fails] wants.
func CallsFail(t testing.TB, s driver.Store, none driver.Revision, what string, kind error, parts ...string) {
	t.Helper()
	for call, err := range Calls(t.Context(), s, none) {
		Fails(t, what+": "+call, err, kind, parts...)
	}
}

// Unprepared is like CallsFail for a store that is not prepared yet. Prepare is called last, and may succeed.
func Unprepared(t testing.TB, s driver.Store, none driver.Revision, parts ...string) {
	t.Helper()
	for call, err := range Calls(t.Context(), s, none) {
		if call != "prepare" {
			Fails(t, "not prepared: "+call, err, driver.ErrUnavailable, parts...)
		}
	}
}

// Findings fails the test unless Inspect returns one finding for each of the words, in the same
// order. Findings that lose changes must come first. Findings returns the findings.
func Findings(t testing.TB, s driver.Inspector, words ...string) []driver.Finding {
	t.Helper()
	found, err := s.Inspect(t.Context())
	if err != nil {
		t.Error(err)
		return nil
	}
	if len(found) != len(words) {
		t.Errorf("Inspect finds %+v, want what has %q", found, words)
		return nil
	}
	for i, f := range found {
		if !strings.Contains(f.Text, words[i]) || strings.HasSuffix(f.Text, ".") || f.Advice == "" && f.Remedy == "" {
			t.Errorf("Inspect finds %+v, want what has %q", f, words[i])
		}
		if i > 0 && f.Loses && !found[i-1].Loses {
			t.Errorf("Inspect finds %+v after %+v, which loses nothing", f, found[i-1])
		}
		if f.Loses && f.Blocks {
			t.Errorf("Inspect finds %+v, which loses nothing if it blocks leases", f)
		}
		if testing.Verbose() {
			t.Logf("%+v", f)
		}
	}
	return found
}

// FindingsLose is like [Findings], and fails the test also unless the Loses of the first finding is
// as given.
func FindingsLose(t testing.TB, s driver.Inspector, loses bool, words ...string) {
	t.Helper()
	if found := Findings(t, s, words...); len(found) > 0 && found[0].Loses != loses {
		t.Errorf("Inspect finds %+v, want Loses to be %v", found[0], loses)
	}
}

// FindingBlocks is like [Findings] for one finding, which has to say that leases are blocked.
func FindingBlocks(t testing.TB, s driver.Inspector, word string) {
	t.Helper()
	if found := Findings(t, s, word); len(found) > 0 && (!found[0].Blocks || found[0].Loses) {
		t.Errorf("Inspect finds %+v, which does not block", found[0])
	}
}

// Told waits until a watch tells of a change, and fails the test if the watch ends.
func Told(t testing.TB, what string, changed <-chan struct{}) {
	t.Helper()
	if _, ok := wait.Receive(t, "what a watch tells of "+what, changed); !ok {
		t.Fatalf("%s: the channel was closed", what)
	}
}

package driver_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// newHandle returns a handle on a backend with one entry, "a", and the number of calls of the backend.
func newHandle(change func(*driver.Backend)) (h *driver.Handle, calls *int) {
	calls = new(int)
	b := driver.Backend{
		Address: "test://store",
		Get: func(_ context.Context, key string) (driver.Entry, error) {
			*calls++
			return driver.Entry{Value: []byte("value of " + key), Revision: "1"}, nil
		},
		List: func(context.Context, string) ([]driver.Entry, error) {
			*calls++
			return []driver.Entry{{Key: "a", Value: []byte("value"), Revision: "1"}}, nil
		},
		Put: func(context.Context, string, []byte, driver.Revision) (driver.Revision, error) {
			*calls++
			return "2", nil
		},
	}
	if change != nil {
		change(&b)
	}
	return driver.New(b), calls
}

// operations makes each operation of a handle once.
func operations(ctx context.Context, h *driver.Handle) map[string]error {
	_, get := h.Get(ctx, "a/b")
	_, list := h.List(ctx, "a")
	_, put := h.Put(ctx, "a/b", nil, driver.None)
	_, call := driver.Call(ctx, h, "now", func(context.Context) (time.Time, error) { return time.Time{}, nil })
	return map[string]error{"get": get, "list": list, "put": put, "now": call}
}

// failing has every function of a backend return an error.
func failing(err error) func(*driver.Backend) {
	return func(b *driver.Backend) {
		b.Get = func(context.Context, string) (driver.Entry, error) {
			return driver.Entry{Value: []byte("x"), Revision: "7"}, err
		}
		b.List = func(context.Context, string) ([]driver.Entry, error) { return nil, err }
		b.Put = func(context.Context, string, []byte, driver.Revision) (driver.Revision, error) { return "8", err }
	}
}

func wantError(t *testing.T, what string, err error, want driver.Error) {
	t.Helper()
	e, ok := err.(*driver.Error)
	if !ok {
		t.Errorf("%s: %v is no *driver.Error", what, err)
		return
	}
	if e.Store != want.Store || e.Op != want.Op || e.Key != want.Key || e.Remedy != want.Remedy || !errors.Is(e, want.Err) {
		t.Errorf("%s: %+v, want %+v", what, *e, want)
	}
}

// The backend sees no invalid key, value or prefix.
func TestHandleKeys(t *testing.T) {
	h, calls := newHandle(nil)
	for _, key := range []string{"", "A", "a//b", "../a", strings.Repeat("x", driver.MaxName+1)} {
		_, err := h.Get(t.Context(), key)
		wantError(t, "Get of "+key, err, driver.Error{Store: "test://store", Op: "get", Err: driver.ErrKey})
		_, err = h.Put(t.Context(), key, nil, driver.None)
		wantError(t, "Put of "+key, err, driver.Error{Store: "test://store", Op: "put", Err: driver.ErrKey})
	}
	_, err := h.Put(t.Context(), "a", make([]byte, driver.MaxValue+1), driver.None)
	wantError(t, "Put of a long value", err, driver.Error{Store: "test://store", Op: "put", Key: "a", Err: driver.ErrKey})
	for _, prefix := range []string{"A", "..", "a//", "/", strings.Repeat("x", driver.MaxName+1)} {
		if list, err := h.List(t.Context(), prefix); len(list) != 0 || err != nil {
			t.Errorf("List of %q: %v, %v", prefix, list, err)
		}
	}
	if *calls != 0 {
		t.Errorf("the backend was called %d times", *calls)
	}
	testkit.OK(t, testkit.Err(h.Put(t.Context(), "a", make([]byte, driver.MaxValue), driver.None)))
}

func TestCheckPrefix(t *testing.T) {
	long := strings.Repeat("x", driver.MaxName)
	for _, prefix := range []string{"", "a", "a/", "a/b", "a-", long, long + "/"} {
		if err := driver.CheckPrefix(prefix); err != nil {
			t.Errorf("%q: %v", prefix, err)
		}
	}
	for _, prefix := range []string{"/", "a//", "..", "A", "a/.", long + "x"} {
		testkit.Is(t, driver.CheckPrefix(prefix), driver.ErrKey, "%q", prefix)
	}
}

// A backend may return entries in any order, and entries with other prefixes.
func TestHandleList(t *testing.T) {
	long := strings.Repeat("x", driver.MaxName)
	all := []driver.Entry{{Key: "b"}, {Key: "a/10"}, {Key: "A"}, {Key: ""}, {Key: long}, {Key: "a.b"}, {Key: ".a"}, {Key: "a/2"}, {Key: "a"}, {Key: "a-b"}}
	h, _ := newHandle(func(b *driver.Backend) {
		b.List = func(context.Context, string) ([]driver.Entry, error) { return slices.Clone(all), nil }
	})
	for prefix, want := range map[string][]string{
		"": {"a", "a-b", "a.b", "a/10", "a/2", "b", long}, "a": {"a", "a-b", "a.b", "a/10", "a/2"}, "a/": {"a/10", "a/2"}, "c": nil, long: {long},
	} {
		list, err := h.List(t.Context(), prefix)
		var keys []string
		for _, e := range list {
			keys = append(keys, e.Key)
		}
		if !slices.Equal(keys, want) || err != nil {
			t.Errorf("List(%q): %q, %v; want %q", prefix, keys, err, want)
		}
	}
}

// List returns all unreadable entries, and the error of the first.
func TestHandleListDamaged(t *testing.T) {
	h, _ := newHandle(func(b *driver.Backend) {
		b.Diagnose = func(error) (driver.Remedy, error) { return driver.RemedyRecover, nil }
		b.List = func(context.Context, string) ([]driver.Entry, error) {
			return []driver.Entry{
				{Key: "c", Revision: "3", Err: fmt.Errorf("%w: c", driver.ErrDamaged)},
				{Key: "b", Revision: "2", Value: make([]byte, driver.MaxValue+1)},
				{Key: "a", Revision: "1", Value: []byte("x")},
			}, nil
		}
	})
	list, err := h.List(t.Context(), "")
	if len(list) != 3 || string(list[0].Value) != "x" || list[0].Err != nil || list[1].Value != nil || list[1].Revision != "2" || list[2].Revision != "3" {
		t.Fatalf("%+v", list)
	}
	wantError(t, "b", list[1].Err, driver.Error{Store: "test://store", Op: "list", Key: "b", Err: driver.ErrDamaged, Remedy: driver.RemedyRecover})
	wantError(t, "c", list[2].Err, driver.Error{Store: "test://store", Op: "list", Key: "c", Err: driver.ErrDamaged, Remedy: driver.RemedyRecover})
	if err != list[1].Err {
		t.Errorf("the error is %v, not that of the first entry that is damaged", err)
	}

	// The error of the whole call goes before the errors of entries.
	broken := errors.New("broken")
	h, _ = newHandle(func(b *driver.Backend) {
		b.List = func(context.Context, string) ([]driver.Entry, error) {
			return []driver.Entry{{Key: "a", Err: driver.ErrDamaged}}, broken
		}
	})
	if list, err = h.List(t.Context(), ""); len(list) != 1 || !errors.Is(err, broken) {
		t.Errorf("%+v, %v", list, err)
	}
}

// With an error, Get returns only the revision of a damaged entry.
func TestHandleDamaged(t *testing.T) {
	h, _ := newHandle(func(b *driver.Backend) {
		b.Get = func(context.Context, string) (driver.Entry, error) {
			return driver.Entry{Value: make([]byte, driver.MaxValue+1), Revision: "5"}, nil
		}
	})
	for what, h := range map[string]*driver.Handle{"a long value": h, "damaged": first(newHandle(failing(fmt.Errorf("%w: x", driver.ErrDamaged))))} {
		e, err := h.Get(t.Context(), "a")
		wantError(t, what, err, driver.Error{Store: "test://store", Op: "get", Key: "a", Err: driver.ErrDamaged})
		if e.Value != nil || e.Revision == driver.None || e.Key != "a" {
			t.Errorf("%s: %+v", what, e)
		}
	}
	for _, why := range []error{driver.ErrNotFound, driver.ErrVersion, errors.New("broken")} {
		if e, err := first(newHandle(failing(why))).Get(t.Context(), "a"); e.Key != "" || e.Value != nil || e.Revision != driver.None || !errors.Is(err, why) {
			t.Errorf("%v: %+v, %v", why, e, err)
		}
	}
}

func first(h *driver.Handle, _ *int) *driver.Handle { return h }

// A handle completes the errors of a backend.
func TestHandleErrors(t *testing.T) {
	raw, odd := errors.New("raw"), errors.New("odd")
	diagnosed := 0
	change := func(err error) func(*driver.Backend) {
		return func(b *driver.Backend) {
			failing(err)(b)
			b.Diagnose = func(err error) (driver.Remedy, error) {
				diagnosed++
				if errors.Is(err, odd) {
					return driver.RemedyMove, driver.ErrUnsafe
				}
				return driver.RemedyConnect, nil
			}
		}
	}
	for _, c := range []struct {
		err    error
		kind   error
		remedy driver.Remedy
		asked  bool // of Diagnose
		text   string
	}{
		{raw, driver.ErrUnavailable, driver.RemedyConnect, true, "store unavailable: raw"},
		{odd, driver.ErrUnsafe, driver.RemedyMove, true, "unsafe store: odd"},
		{fmt.Errorf("%w: old", driver.ErrVersion), driver.ErrVersion, driver.RemedyConnect, true, "written by another version: old"},
		{driver.ErrNotFound, driver.ErrNotFound, "", false, "not found"},
		{driver.ErrConflict, driver.ErrConflict, "", false, "changed meanwhile"},
		{&driver.Error{Err: driver.ErrVersion, Remedy: driver.RemedySettings}, driver.ErrVersion, driver.RemedySettings, false, "written by another version"},
		{context.Canceled, driver.ErrUnavailable, "", false, "store unavailable: context canceled"},
		{context.DeadlineExceeded, driver.ErrUnavailable, driver.RemedyConnect, true, "store unavailable: no answer in time: context deadline exceeded"},
		{slow{}, context.DeadlineExceeded, driver.RemedyConnect, true, "store unavailable: no answer in time: context deadline exceeded: slow"},
	} {
		h, _ := newHandle(change(c.err))
		for op, key := range map[string]string{"get": "a/b", "put": "a/b", "list": ""} {
			diagnosed = 0
			err := operations(t.Context(), h)[op]
			wantError(t, op, err, driver.Error{Store: "test://store", Op: op, Key: key, Err: c.kind, Remedy: c.remedy})
			if err.(*driver.Error).Err.Error() != c.text {
				t.Errorf("%s: %q, want %q", op, err.(*driver.Error).Err, c.text)
			}
			if (diagnosed > 0) != c.asked {
				t.Errorf("%s: %v was diagnosed %d times", op, c.err, diagnosed)
			}
		}
	}
	if rev, _ := first(newHandle(failing(raw))).Put(t.Context(), "a", nil, driver.None); rev != driver.None {
		t.Errorf("Put failed and returned revision %q", rev)
	}
	_, err := first(newHandle(failing(raw))).Get(t.Context(), "a")
	wantError(t, "without Diagnose", err, driver.Error{Store: "test://store", Op: "get", Key: "a", Err: driver.ErrUnavailable})
	wantError(t, "OpenError", driver.OpenError("test://x", raw, driver.RemedyAddress),
		driver.Error{Store: "test://x", Op: "open", Err: driver.ErrUnavailable, Remedy: driver.RemedyAddress})
}

// slow is the error of a connection after its deadline.
type slow struct{}

func (slow) Error() string { return "slow" }
func (slow) Timeout() bool { return true }

// The error of an inner call keeps the operation and the remedy, and the outer call adds the key.
func TestHandleNested(t *testing.T) {
	h, _ := newHandle(func(b *driver.Backend) {
		b.Diagnose = func(error) (driver.Remedy, error) { return driver.RemedyMove, driver.ErrUnsafe }
	})
	err := driver.Do(t.Context(), h, "outer", func(ctx context.Context) error {
		return driver.Do(ctx, h, "inner", func(context.Context) error { return errors.New("raw") })
	})
	wantError(t, "nested", err, driver.Error{Store: "test://store", Op: "inner", Err: driver.ErrUnsafe, Remedy: driver.RemedyMove})
	if got := strings.Count(err.Error(), "test://store"); got != 1 {
		t.Errorf("%v names the store %d times", err, got)
	}
	h, _ = newHandle(func(b *driver.Backend) {
		b.Get = func(ctx context.Context, key string) (driver.Entry, error) {
			return driver.Entry{}, driver.Do(ctx, h, "read", func(context.Context) error { return errors.New("raw") })
		}
	})
	_, err = h.Get(t.Context(), "a")
	wantError(t, "nested", err, driver.Error{Store: "test://store", Op: "read", Key: "a", Err: driver.ErrUnavailable})
}

// A call ends with its context or with the time-out, whichever is earlier.
func TestHandleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context) error { <-ctx.Done(); return errors.New("cut off") }
		h, _ := newHandle(func(b *driver.Backend) {
			b.Timeout = 5 * time.Second
			b.Get = func(ctx context.Context, _ string) (driver.Entry, error) { return driver.Entry{}, hang(ctx) }
			b.List = func(ctx context.Context, _ string) ([]driver.Entry, error) { return nil, hang(ctx) }
			b.Put = func(ctx context.Context, _ string, _ []byte, _ driver.Revision) (driver.Revision, error) {
				return driver.None, hang(ctx)
			}
		})
		for limit, want := range map[time.Duration]time.Duration{time.Hour: 5 * time.Second, time.Second: time.Second} {
			for op, call := range map[string]func(context.Context) error{
				"get":  func(ctx context.Context) error { _, err := h.Get(ctx, "a"); return err },
				"list": func(ctx context.Context) error { _, err := h.List(ctx, ""); return err },
				"put":  func(ctx context.Context) error { _, err := h.Put(ctx, "a", nil, driver.None); return err },
				"do":   func(ctx context.Context) error { return driver.Do(ctx, h, "do", hang) },
			} {
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				begun := time.Now()
				err := call(ctx)
				if took := time.Since(begun); took != want {
					t.Errorf("%s with a context of %s took %s", op, limit, took)
				}
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "no answer in time: context deadline exceeded: cut off") {
					t.Errorf("%s: %v", op, err)
				}
				cancel()
			}
		}
	})
	// The text has the error of the context once.
	h, _ := newHandle(func(b *driver.Backend) { b.Timeout = time.Millisecond })
	err := driver.Do(t.Context(), h, "do", func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	if want := "test://store: do: store unavailable: no answer in time: context deadline exceeded"; err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// Without a time-out, a call ends with its context only.
	h, _ = newHandle(nil)
	driver.Do(t.Context(), h, "do", func(ctx context.Context) error {
		if _, ok := ctx.Deadline(); ok {
			t.Error("a call has a deadline, without a time-out")
		}
		return nil
	})
}

// A call with a cancelled context does not reach the backend.
func TestHandleCancelled(t *testing.T) {
	h, calls := newHandle(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for op, err := range operations(ctx, h) {
		wantError(t, op, err, driver.Error{Store: "test://store", Op: op, Key: keyOf(op), Err: context.Canceled})
		wantError(t, op, err, driver.Error{Store: "test://store", Op: op, Key: keyOf(op), Err: driver.ErrUnavailable})
	}
	if *calls != 0 {
		t.Errorf("the backend was called %d times", *calls)
	}
	for op, err := range operations(t.Context(), h) {
		if err != nil {
			t.Errorf("%s afterwards: %v", op, err)
		}
	}
}

func keyOf(op string) string {
	if op == "get" || op == "put" {
		return "a/b"
	}
	return ""
}

func TestHandleClose(t *testing.T) {
	closes, broken := 0, errors.New("broken")
	h, calls := newHandle(func(b *driver.Backend) { b.Close = func() error { closes++; return broken } })
	ctx, stop := driver.UntilClosed(t.Context(), h)
	defer stop()
	if ctx.Err() != nil {
		t.Error("the context of an open handle has ended")
	}
	// Close during a call shows in the error of the call.
	err := driver.Do(t.Context(), h, "late", func(context.Context) error {
		if err := h.Close(); err != broken {
			t.Errorf("Close: %v", err)
		}
		return errors.New("connection lost")
	})
	wantError(t, "late", err, driver.Error{Store: "test://store", Op: "late", Err: fs.ErrClosed})
	if err := h.Close(); err != nil || closes != 1 {
		t.Errorf("a second Close: %v; the backend was closed %d times", err, closes)
	}
	<-ctx.Done()
	for op, err := range operations(t.Context(), h) {
		wantError(t, op, err, driver.Error{Store: "test://store", Op: op, Key: keyOf(op), Err: fs.ErrClosed})
		wantError(t, op, err, driver.Error{Store: "test://store", Op: op, Key: keyOf(op), Err: driver.ErrUnavailable})
	}
	if _, err := h.Get(t.Context(), "A"); strings.Count(err.Error(), "A") != 0 || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Get of an invalid key: %v", err)
	}
	if *calls != 0 {
		t.Errorf("the backend was called %d times", *calls)
	}
	if h, _ := newHandle(nil); h.Close() != nil {
		t.Error("Close without a function fails")
	}
	if h, _ := newHandle(nil); true {
		ctx, stop := driver.UntilClosed(t.Context(), h)
		if stop(); ctx.Err() == nil {
			t.Error("the context outlives its function")
		}
	}
}

// After a latch every call fails with the first error, also a call under way.
func TestLatch(t *testing.T) {
	h, calls := newHandle(func(b *driver.Backend) {
		b.Diagnose = func(error) (driver.Remedy, error) { return driver.RemedyRestored, driver.ErrUnsafe }
	})
	backwards := errors.New("the store went backwards")
	under := make(chan struct{})
	done := make(chan error)
	go func() {
		done <- driver.Do(t.Context(), h, "slow", func(context.Context) error { <-under; return nil })
	}()
	err := driver.Do(t.Context(), h, "find", func(context.Context) error { return driver.Latch(backwards) })
	want := driver.Error{Store: "test://store", Op: "find", Err: backwards, Remedy: driver.RemedyRestored}
	wantError(t, "find", err, want)
	want.Err = driver.ErrUnsafe
	wantError(t, "find", err, want)
	close(under)
	want.Op = "slow"
	// The call of the goroutine fails before the latch and after it.
	wantError(t, "slow", <-done, want)
	for op, err := range operations(t.Context(), h) {
		wantError(t, op, err, driver.Error{Store: "test://store", Op: op, Key: keyOf(op), Err: backwards, Remedy: driver.RemedyRestored})
	}
	if *calls != 0 {
		t.Errorf("the backend was called %d times", *calls)
	}
	h.Close()
	testkit.Is(t, testkit.Err(h.Get(t.Context(), "a")), fs.ErrClosed, "Get after Close")
	if driver.Latch(nil) != nil {
		t.Error("Latch makes an error of none")
	}
}

// The first latch stays, with its remedy and without its operation.
func TestLatchFirst(t *testing.T) {
	h, _ := newHandle(nil)
	one := &driver.Error{Err: fmt.Errorf("%w: one", driver.ErrUnsafe), Remedy: driver.RemedyMove}
	err := driver.Do(t.Context(), h, "outer", func(ctx context.Context) error {
		driver.Do(ctx, h, "inner", func(context.Context) error { return fmt.Errorf("wrapped: %w", driver.Latch(one)) })
		return driver.Latch(errors.New("two"))
	})
	wantError(t, "outer", err, driver.Error{Store: "test://store", Op: "outer", Err: driver.ErrUnsafe, Remedy: driver.RemedyMove})
	// A latch during a call that succeeds makes the call fail.
	h, _ = newHandle(func(b *driver.Backend) {
		b.Put = func(ctx context.Context, _ string, _ []byte, _ driver.Revision) (driver.Revision, error) {
			driver.Do(ctx, h, "inner", func(context.Context) error { return driver.Latch(one) })
			return "2", nil
		}
	})
	rev, err := h.Put(t.Context(), "b", nil, driver.None)
	wantError(t, "put", err, driver.Error{Store: "test://store", Op: "put", Key: "b", Err: driver.ErrUnsafe, Remedy: driver.RemedyMove})
	if rev != driver.None {
		t.Errorf("revision %q", rev)
	}
}

func TestProgress(t *testing.T) {
	var p driver.Progress
	for n, want := range []uint64{0, 1, 5, 5} {
		p.Advance([]uint64{0, 1, 5, 3}[n])
		if p.Seen() != want {
			t.Errorf("step %d: %d, want %d", n, p.Seen(), want)
		}
	}
}

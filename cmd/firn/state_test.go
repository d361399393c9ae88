package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/snowflakesi"
)

// leaseCommand is the scripts' command "lease [hold] DIR FORMAT [ahead=DURATION] [worker=N]
// [window=DURATION] [machine-bits=N]": it takes a worker as another program would whose clock is so far ahead,
// and gives it back, or with hold keeps it until the script ends.
func leaseCommand(ts *testscript.TestScript, neg bool, args []string) {
	hold := len(args) > 0 && args[0] == "hold"
	if hold {
		args = args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: lease [hold] DIR FORMAT [KEY=VALUE]...")
	}
	f, ok := lookup(args[1])
	if !ok {
		ts.Fatalf("no format %s", args[1])
	}
	r := recipe{format: f.Format}
	r.set.Layout = snowflakesi.DefaultLayout()
	c := lease.Config{Holder: "a script", Timeout: time.Minute} // whatever the window, on a machine that is busy
	for _, arg := range args[2:] {
		key, value, _ := strings.Cut(arg, "=")
		var err error
		switch key {
		case "ahead":
			var ahead time.Duration
			ahead, err = time.ParseDuration(value)
			c.Clock = func() time.Time { return time.Now().Add(ahead) }
			c.TrustClock = true // it shall make the records that others disagree with
		case "window":
			c.Window, err = time.ParseDuration(value)
		case "worker":
			var n int
			n, err = strconv.Atoi(value)
			c.Worker = lease.Number(n)
		case "machine-bits":
			r.set.Layout.MachineBits, err = strconv.Atoi(value)
		default:
			err = errors.New("no such key: " + arg)
		}
		ts.Check(err)
	}
	_, held, err := f.lease(context.Background(), r, leased.Options{Dir: ts.MkAbs(args[0]), Lease: c})
	ts.Check(err)
	if hold {
		ts.Defer(func() { held.Close() })
		return
	}
	ts.Check(held.Close())
}

// putCommand is the scripts' command "put DIR KEY OLD NEW": it replaces a part of a record.
func putCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: put DIR KEY OLD NEW")
	}
	store, err := leased.Embedded(ts.MkAbs(args[0]))
	ts.Check(err)
	e, err := store.Get(context.Background(), args[1])
	ts.Check(err)
	value := strings.Replace(string(e.Value), args[2], args[3], 1)
	if value == string(e.Value) {
		ts.Fatalf("no %s in %s", args[2], e.Value)
	}
	_, err = store.Put(context.Background(), args[1], []byte(value), e.Revision)
	ts.Check(err)
}

// cutCommand is the scripts' command "cut FILE SIZE": it cuts a file short.
func cutCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE SIZE")
	}
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

// keepCommand is the scripts' command "keep DIR", and unchangedCommand "unchanged", which
// checks that the directory has the same bytes as it had then.
func keepCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("KEPT", ts.MkAbs(args[0]))
	ts.Setenv("KEPT_FILES", contents(ts, ts.MkAbs(args[0])))
}

func unchangedCommand(ts *testscript.TestScript, _ bool, _ []string) {
	if now := contents(ts, ts.Getenv("KEPT")); now != ts.Getenv("KEPT_FILES") {
		ts.Fatalf("files before:\n%s\nand now:\n%s", ts.Getenv("KEPT_FILES"), now)
	}
}

// contents lists all files of a directory, with what tells their bytes apart.
func contents(ts *testscript.TestScript, dir string) string {
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			fmt.Fprintln(&all, path)
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %x\n", path, sha256.Sum256(b))
		return err
	})
	ts.Check(err)
	return all.String()
}

func TestWorkerStates(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, v := range []struct {
		held  bool
		until time.Duration
		want  string
	}{
		{true, time.Second, "held"},
		{true, 0, "ran out"},
		{true, -time.Hour, "ran out"},
		{false, -time.Hour, "free"},
		{false, time.Millisecond, "free"},
		{false, time.Second, "ahead"},
	} {
		if got := stateOf(lease.Worker{Held: v.held, Until: now.Add(v.until)}, now); got != v.want {
			t.Errorf("held %v until now + %v: %s, not %s", v.held, v.until, got, v.want)
		}
	}
}

// TestEnds: a pool's timestamps end where its format says, and no layout of another program
// overflows.
func TestEnds(t *testing.T) {
	for _, name := range names() {
		f, _ := lookup(name)
		r := recipe{format: f.Format}
		r.set.Layout = snowflakesi.DefaultLayout()
		want := map[string]string{
			"nanoflake": "2090-09-07T15:47:35.552Z", "ulidflake": "2302-09-27T15:10:22.208Z", "ulidflake-scalable": "2302-09-27T15:10:22.208Z",
			"snowflakesi": "2055-11-04T19:53:47.776Z", "scru160": "10889-08-02T05:31:50.656Z", "sno": "2079-09-07T15:47:35.552Z",
		}[name]
		if got := timeText(ends(f.pool(r).Layout)); got != want {
			t.Errorf("%s: %s, not %s", name, got, want)
		}
	}
	for _, l := range []lease.Layout{
		{Unit: time.Hour, Widths: []int{1000}}, {Unit: 1 << 62, Widths: []int{63}}, {Unit: time.Second},
	} {
		if got := ends(l); got.Before(l.Epoch) {
			t.Errorf("%v: %v", l, got)
		}
	}
}

// TestExplain: errors of leases and stores say which flag to turn to, and stay what they are.
func TestExplain(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, v := range []struct {
		err  error
		want string
	}{
		{&lease.NoWorkerError{Pool: "p", Workers: 2, Soonest: at}, "firn pool show p --state /x"},
		{&lease.NoWorkerError{Pool: "p", Workers: 1, Soonest: at}, "one process at a time"},
		{&lease.HeldError{Pool: "p", Worker: 3, Holder: "h", Until: at}, "held by h, until 2026-01-01T00:00:00Z or longer: give another --worker"},
		{&lease.HeldError{Pool: "p", Worker: 3, Until: at}, "cannot be used before 2026"},
		{&lease.SkewError{Pool: "p", Now: at, Reference: at.AddDate(10, 0, 0)}, "(in 9 years): set the clock or, if it is right, add --trust-clock"},
		{&lease.SkewError{Pool: "p", Now: at, Reference: at.AddDate(-10, 0, 0)}, "(10 years ago)"},
		{&lease.MismatchError{Pool: "p", Field: "epoch", Have: "A", Want: "B"}, "give --epoch A, or name the pool for those with --pool"},
		{&lease.MismatchError{Pool: "p", Field: "widths", Have: "[41 5 17]", Want: "[40 5 8]"}, "give --clock-bits 41 --machine-bits 5, or"},
		{&lease.MismatchError{Pool: "p", Field: "widths", Have: "[41 7]", Want: "[40 5 8]"}, "its widths is"},
		{&lease.MismatchError{Pool: "p", Field: "format", Have: "sno", Want: "nanoflake"}, "for IDs of sno, not nanoflake"},
		{&lease.MismatchError{Pool: "p", Field: "unit", Have: "1ms", Want: "2ms"}, "its unit is 1ms, not 2ms"},
		{&driver.Error{Store: "s", Op: "get", Key: "p/workers/00001", Err: driver.ErrDamaged, Advice: "rescue the pool (lease.Rescue), which"}, "rescue the pool (firn pool rescue p --state /x), which"},
		{&driver.Error{Store: "s", Op: "get", Key: "sno/pool", Err: driver.ErrDamaged, Advice: "rescue (lease.Rescue, with its layout)"}, "rescue (firn pool rescue sno --format sno --state /x)"},
		{&driver.Error{Store: "s", Op: "open", Err: driver.ErrUnavailable, Advice: "rescue each instead of creating it (lease.Rescue, with its layout)"}, "instead of creating it (firn pool rescue NAME --format FORMAT --state /x)"},
		{&driver.Error{Store: "s", Op: "get", Key: "sno/pool", Err: driver.ErrUnsafe, Advice: "rescue them there (lease.Rescue there, with their layouts)"}, "(firn pool rescue sno --format sno --store ADDRESS)"},
		{&driver.Error{Store: "file:///x", Op: "get", Err: driver.ErrVersion, Advice: "use it"}, "use it"},
		{fmt.Errorf("p: %w", lease.ErrPoolExists), "it can be used as it is"},
		{fmt.Errorf("pool p: %w", lease.ErrNoPool), "to see those that there are: firn pool list --state /x"},
		{fmt.Errorf("pool sno: %w (lease.Create)", lease.ErrNoPool), "(firn pool create sno --state /x)"},
		{fmt.Errorf("pool p: %w: %w (lease.Rescue)", errors.New("x"), lease.ErrRescued), "x: the pool was rescued (firn pool rescue p --state /x)"},
		{&lease.ExpiredError{Pool: "p", Until: at, Cause: &driver.Error{Err: lease.ErrRolledBack, Store: "s", Op: "read", Key: "p/pool", Advice: "rescue it (lease.Rescue)"}}, "rescue it (firn pool rescue p --state /x)"},
		{&lease.ExpiredError{Pool: "p", Until: at, Cause: &driver.Error{Err: driver.ErrUnavailable, Store: "s", Op: "put"}}, "the lease has expired at"},
		{errors.New("else"), "else"},
	} {
		got := (&state{dir: "/x"}).explain(v.err)
		if !strings.Contains(got.Error(), v.want) || strings.Contains(got.Error(), "\n") || !errors.Is(got, v.err) {
			t.Errorf("%T: %v\nis without: %s", v.err, got, v.want)
		}
	}
	if (&state{}).explain(nil) != nil {
		t.Error("no error becomes one")
	}
}

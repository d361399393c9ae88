package tests

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/snowflakesi"
)

// leaseCommand is the scripts' command "lease [hold] DIR FORMAT [ahead=DURATION] [worker=N]
// [window=DURATION] [machine-bits=N]": it takes a worker, as a program with a clock ahead of the time does, and
// gives the worker back; with hold, it keeps the worker until "lease end", or the end of the script.
func leaseCommand(ts *testscript.TestScript, neg bool, args []string) {
	held := ts.Value(heldLeasesKey{}).(*heldLeases)
	if !neg && len(args) == 1 && args[0] == "end" {
		ts.Check(held.end())
		return
	}
	hold := len(args) > 0 && args[0] == "hold"
	if hold {
		args = args[1:]
	}
	if neg || len(args) < 2 {
		ts.Fatalf("usage: lease [hold] DIR FORMAT [KEY=VALUE]...")
	}
	f, ok := formats.Lookup(args[1])
	if !ok {
		ts.Fatalf("no format %s", args[1])
	}
	r := formats.Recipe{Recipe: shape.Recipe{Leased: true}, Format: f}
	c := lease.Config{Create: true, Holder: "a script", Timeout: time.Minute} // whatever the window, on a machine that is busy
	for _, arg := range args[2:] {
		key, value, _ := strings.Cut(arg, "=")
		var err error
		switch key {
		case "ahead":
			var ahead time.Duration
			ahead, err = time.ParseDuration(value)
			r.Clock = func() time.Time { return time.Now().Add(ahead) }
			c.TrustClock = true // for records that contradict other clocks
		case "window":
			c.Window, err = time.ParseDuration(value)
		case "worker":
			var n int
			n, err = strconv.Atoi(value)
			c.Worker = lease.Number(n)
		case "machine-bits":
			var bits int
			bits, err = strconv.Atoi(value)
			r.MachineBits = cmp.Or(bits, snowflakesi.NoMachineBits)
		default:
			err = errors.New("no such key: " + arg)
		}
		ts.Check(err)
	}
	store, err := filelease.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	made, err := r.Make()
	ts.Check(err)
	l, err := made.Lease(context.Background(), store, c)
	ts.Check(err)
	if hold {
		*held = append(*held, l.Close, store.Close)
		// The first interval is short, and may end on a busy machine.
		most := cmp.Or(c.Window, lease.DefaultWindow) / 2
		if !wait.For(func() bool { return time.Until(l.Until()) > most }) {
			ts.Fatalf("the lease is not renewed: %v", l.Err())
		}
		return
	}
	ts.Check(l.Close())
	ts.Check(store.Close())
}

// heldLeases are what closes the leases that a script holds, and their stores. The script has them by a key.
type (
	heldLeases    []func() error
	heldLeasesKey struct{}
)

// end closes the leases.
func (h *heldLeases) end() (err error) {
	for _, closes := range *h {
		err = errors.Join(err, closes())
	}
	*h = nil
	return err
}

// putCommand is the scripts' command "put DIR KEY OLD NEW": it replaces a part of a record.
func putCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: put DIR KEY OLD NEW")
	}
	store, err := filelease.Open(ts.MkAbs(args[0]))
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

// keepCommand is the scripts' command "keep DIR", and unchangedCommand "unchanged": the directory has the
// bytes of the time of keep.
func keepCommand(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv("KEPT", ts.MkAbs(args[0]))
	ts.Setenv("KEPT_FILES", contents(ts.Check, ts.MkAbs(args[0])))
}

func unchangedCommand(ts *testscript.TestScript, _ bool, _ []string) {
	if now := contents(ts.Check, ts.Getenv("KEPT")); now != ts.Getenv("KEPT_FILES") {
		ts.Fatalf("files before:\n%s\nand now:\n%s", ts.Getenv("KEPT_FILES"), now)
	}
}

// contents lists all files of a directory, with a hash of the bytes.
func contents(check func(error), dir string) string {
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
	check(err)
	return all.String()
}

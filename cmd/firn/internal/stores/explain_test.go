package stores

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

// TestCommand: a command that is printed is what a shell takes for the words that were given, and has no
// secret.
func TestCommand(t *testing.T) {
	for _, dir := range []string{"/a", "a b", "it's", "$HOME", "a;b", "~", "a\\b", "*", "=a", "é", "a&b", "#"} {
		out, err := exec.Command("sh", "-c", "printf '%s\\n' "+(&State{Dir: Directory(dir)}).Command("firn")).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err != nil || !slices.Equal(got, []string{"firn", "--state", dir}) {
			t.Errorf("%s: %q, %v", dir, got, err)
		}
	}
	for addr, want := range map[string]string{
		"etcd://a,b/p": "x --store etcd://a,b/p",
		"postgres://me@h/db?table=a.b&password-file=/run/p": "x --store 'postgres://me@h/db?table=a.b&password-file=/run/p'",
		"postgres://me:hunter2@h/db":                        "x --store …",
		"postgres://me@h/db?password=hunter2":               "x --store …",
		"redis://h?sentinel-Password=hunter2":               "x --store …",
		"consul://h?token=hunter2":                          "x --store …",
		"hunter2":                                           "x --store …",
	} {
		if got := (&State{store: Address(addr)}).Command("x"); got != want {
			t.Errorf("%s: %s", addr, got)
		}
		if a, err := address.Parse(addr); err == nil && a.Secrets() != strings.HasSuffix(want, "…") {
			t.Errorf("%s has secrets: %v", addr, a.Secrets())
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
		{&lease.MismatchError{Pool: "p", Field: "epoch", Have: "A", Want: "B"}, "it is for IDs of epoch A, not B: name the pool of these IDs with --pool; only if these IDs are meant to be of pool p, use its settings: firn pool show p --state /x"},
		{&lease.MismatchError{Pool: "p", Field: "format", Have: "sno", Want: "nanoflake"}, "for IDs of format sno, not nanoflake"},
		{&driver.Error{Store: "s", Op: "get", Key: "p/workers/00001", Err: driver.ErrDamaged, Advice: "rescue the pool (lease.Rescue), which"}, "rescue the pool (firn pool rescue p --state /x), which"},
		{&driver.Error{Store: "s", Op: "get", Key: "sno/pool", Err: driver.ErrDamaged, Advice: "rescue (lease.Rescue, with Layouts)"},
			"rescue (firn pool rescue sno --state /x; if --format is needed, the flags must be those that the lost pool was created with)"},
		{&driver.Error{Store: "s", Op: "get", Key: "mine/pool", Err: driver.ErrDamaged, Advice: "rescue (lease.Rescue, with Layouts)"},
			"rescue (firn pool rescue mine --format nanoflake --epoch 2020-01-01 --state /x)"},
		{&driver.Error{Store: "s", Op: "put", Key: "mine/pool", Err: driver.ErrUnsafe, Advice: "see what changes it; then rescue the pool (lease.Rescue)"},
			"then rescue the pool (firn pool rescue mine --format nanoflake --epoch 2020-01-01 --state /x)"},
		{&driver.Error{Store: "s", Op: "open", Err: filelease.ErrCopied, Advice: "rescue all (lease.Rescue each, between OpenCopy and Adopt)"}, "rescue all (firn pool rescue --all --state /x)"},
		{&driver.Error{Store: "s", Op: "open", Err: driver.ErrUnavailable, Advice: "create it with firn pool create; or not; firn pool doctor says"},
			"with firn pool create FORMAT --state /x; or not; firn pool doctor --state /x says"},
		{&driver.Error{Store: "s", Op: "open", Err: driver.ErrUnavailable, Advice: "rescue each instead of creating it (lease.Rescue, with Layouts and Create)"},
			"creating it (firn pool rescue NAME --create --format FORMAT --state /x; the flags must be those that the lost pool was created with)"},
		{&driver.Error{Store: "s", Op: "get", Key: "sno/pool", Err: driver.ErrUnsafe, Advice: "rescue them there (lease.Rescue there, with Layouts and Create)"}, "(firn pool rescue sno --create --format FORMAT --store ADDRESS; the flags"},
		{&driver.Error{Store: "file:///x", Op: "get", Err: driver.ErrVersion, Advice: "use it"}, "use it"},
		{fmt.Errorf("p: %w", lease.ErrPoolExists), "it can be used as it is"},
		{fmt.Errorf("pool p: %w", lease.ErrNoPool), "to see the pools: firn pool list --state /x"},
		{fmt.Errorf("pool sno: %w (lease.Create)", lease.ErrNoPool), "(firn pool create FORMAT --name sno --state /x)"},
		{fmt.Errorf("pool p: %w: %w (lease.Rescue)", errors.New("x"), lease.ErrRescued), "x: the pool was rescued (firn pool rescue p --state /x)"},
		{&lease.ExpiredError{Pool: "p", Until: at, Cause: &driver.Error{Err: lease.ErrRolledBack, Store: "s", Op: "read", Key: "p/pool", Advice: "rescue it (lease.Rescue)"}}, "rescue it (firn pool rescue p --state /x)"},
		{&lease.ExpiredError{Pool: "p", Until: at, Cause: &driver.Error{Err: driver.ErrUnavailable, Store: "s", Op: "put"}}, "the lease has expired at"},
		{&lease.ExpiredError{Pool: "p", Until: at, Cause: &lease.SkewError{Pool: "p", Now: at, Reference: at.AddDate(10, 0, 0)}}, "(in 9 years): set the clock or, if it is right, add --trust-clock"},
		{errors.New("else"), "else"},
	} {
		st := &State{Dir: "/x"}
		st.Makes("mine", "nanoflake", []string{"--epoch", "2020-01-01"})
		got := st.Explain(v.err)
		if !strings.Contains(got.Error(), v.want) || strings.Contains(got.Error(), "\n") || !errors.Is(got, v.err) {
			t.Errorf("%T: %v\nis without: %s", v.err, got, v.want)
		}
	}
	// A pool's record that is lost does not know the window of the command's leases.
	st := &State{Dir: "/x", Window: 5 * time.Minute}
	lost := st.Explain(fmt.Errorf("pool p: %w: rescue it (lease.Rescue, with Layouts and Create)", lease.ErrNoPool))
	if want := "firn pool rescue p --create --format FORMAT --window 5m0s --state /x"; !strings.Contains(lost.Error(), want) {
		t.Errorf("%v\nis without: %s", lost, want)
	}
	if (&State{}).Explain(nil) != nil {
		t.Error("no error becomes one")
	}
}

package leased_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// run is a generator with a lease, whatever its format.
type run struct {
	format string
	next   func(context.Context) (string, int, error) // the ID, and its worker
	*lease.Lease
}

// everyFormat starts a generator of each.
func everyFormat(ctx context.Context, o leased.Options) ([]run, error) {
	var all []run
	var failed error
	add := func(format string, l *lease.Lease, err error, next func(context.Context) (string, int, error)) {
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", format, err))
			return
		}
		all = append(all, run{format, next, l})
	}
	n, l, err := leased.Nanoflake(ctx, nanoflake.Config{}, o)
	add("nanoflake", l, err, func(ctx context.Context) (string, int, error) {
		id, err := n.Next(ctx)
		return id.String(), id.GeneratorID(), err
	})
	u, l, err := leased.UlidFlake(ctx, ulidflake.Config{}, o)
	add("ulidflake", l, err, func(ctx context.Context) (string, int, error) {
		id, err := u.Next(ctx)
		return id.String(), 0, err
	})
	us, l, err := leased.ScalableUlidFlake(ctx, ulidflake.ScalableConfig{}, o)
	add("ulidflake-scalable", l, err, func(ctx context.Context) (string, int, error) {
		id, err := us.Next(ctx)
		return id.String(), id.Scalability(), err
	})
	layout := snowflakesi.Layout{ClockBits: 41, MachineBits: 6}
	s, l, err := leased.SnowflakeSI(ctx, snowflakesi.Config{Layout: layout}, o)
	add("snowflakesi", l, err, func(ctx context.Context) (string, int, error) {
		id, err := s.Next(ctx)
		return id.String(), id.MachineID(layout), err
	})
	c, l, err := leased.SCRU160(ctx, scru160.Config{}, o)
	add("scru160", l, err, func(ctx context.Context) (string, int, error) {
		id, err := c.Next(ctx)
		return id.String(), 0, err
	})
	cn, l, err := leased.SCRU160(ctx, scru160.Config{NodeBits: 16}, o)
	add("scru160 node", l, err, func(ctx context.Context) (string, int, error) {
		id, err := cn.Next(ctx)
		return id.String(), int(id.Random16()), err
	})
	sn, l, err := leased.Sno(ctx, sno.Config{}, o)
	add("sno", l, err, func(ctx context.Context) (string, int, error) {
		id, err := sn.Next(ctx, 1)
		return id.String(), int(id.Partition().AsUint16()), err
	})
	return all, failed
}

// Generators of every format, with a lease from files, work over renewals, have different workers
// at once, and end with their leases.
func TestEveryFormat(t *testing.T) {
	var mu sync.Mutex
	events := make(map[string][]lease.EventKind)
	renewed := 0
	o := leased.Options{Dir: t.TempDir(), Lease: lease.Config{Notify: func(e lease.Event) {
		mu.Lock()
		defer mu.Unlock()
		events[e.Pool] = append(events[e.Pool], e.Kind)
		if e.Kind == lease.Renewed {
			renewed++
		}
	}}}
	all, err := everyFormat(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	goOn := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return renewed < len(all)
	}
	for goOn() { // the first window is renewed soon
		for _, r := range all {
			id, worker, err := r.next(t.Context())
			if err != nil || worker != r.Worker() || seen[id] {
				t.Fatalf("%s: %s of worker %d, not %d (seen before: %t): %v", r.format, id, worker, r.Worker(), seen[id], err)
			}
			seen[id] = true
		}
		time.Sleep(time.Millisecond)
	}
	for _, r := range all {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, _, err := r.next(t.Context()); !errors.Is(err, lease.ErrClosed) {
			t.Errorf("%s: after Close: %v", r.format, err)
		}
		kinds := events[r.Pool().Name()]
		if len(kinds) < 3 || kinds[0] != lease.Acquired || kinds[1] != lease.Renewed || kinds[len(kinds)-1] != lease.Released {
			t.Errorf("%s: events %v", r.format, kinds)
		}
	}
	if len(events) != len(all) {
		t.Errorf("%d pools for %d kinds of generators", len(events), len(all))
	}
}

// Generators that are started at once have workers of their own.
func TestManyAtOnce(t *testing.T) {
	o := leased.Options{Dir: t.TempDir()}
	var mu sync.Mutex
	workers := make(map[int]int)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			_, l, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, o)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { l.Close() })
			mu.Lock()
			defer mu.Unlock()
			workers[l.Worker()]++
		})
	}
	wg.Wait()
	if len(workers) != 40 {
		t.Errorf("40 leases of %d workers: %v", len(workers), workers)
	}
}

// A pool that is not there is created only where that cannot be a mistake.
func TestCreate(t *testing.T) {
	store := memlease.New()
	if _, _, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, leased.Options{Store: store}); !errors.Is(err, lease.ErrNoPool) {
		t.Fatal(err)
	}
	_, l, err := leased.Nanoflake(t.Context(), nanoflake.Config{}, leased.Options{Store: store, Create: true, Pool: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if l.Pool().Name() != "mine" {
		t.Error(l.Pool().Name())
	}
	epoch := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	_, _, err = leased.Nanoflake(t.Context(), nanoflake.Config{Epoch: epoch}, leased.Options{Store: store, Pool: "mine"})
	var mismatch *lease.MismatchError
	if !errors.As(err, &mismatch) || mismatch.Field != "epoch" {
		t.Error(err)
	}
	if _, _, err := leased.SCRU160(t.Context(), scru160.Config{NodeBits: -1}, leased.Options{Store: store, Create: true}); err == nil {
		t.Error("a configuration that is none was taken")
	}
}

// Everything that an unusual configuration changes shows in the pool's name: two that differ
// never meet in one pool by accident.
func TestPoolNames(t *testing.T) {
	epoch := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	pools := map[string]leased.Pool{}
	for _, p := range []leased.Pool{
		leased.NanoflakePool(nanoflake.Config{}), leased.NanoflakePool(nanoflake.Config{Epoch: epoch}),
		leased.UlidFlakePool(ulidflake.Config{}), leased.UlidFlakePool(ulidflake.Config{Epoch: epoch}),
		leased.ScalableUlidFlakePool(ulidflake.ScalableConfig{}), leased.ScalableUlidFlakePool(ulidflake.ScalableConfig{Epoch: epoch}),
		leased.SnowflakeSIPool(snowflakesi.Config{}), leased.SnowflakeSIPool(snowflakesi.Config{Epoch: epoch}),
		leased.SnowflakeSIPool(snowflakesi.Config{Layout: snowflakesi.Layout{ClockBits: 41, MachineBits: 5}}),
		leased.SnowflakeSIPool(snowflakesi.Config{Layout: snowflakesi.Layout{ClockBits: 40}}),
		leased.SCRU160Pool(scru160.Config{}), leased.SCRU160Pool(scru160.Config{NodeBits: 3}),
		leased.SCRU160Pool(scru160.Config{ExtraCounterBits: 3}), leased.SCRU160Pool(scru160.Config{Counter: scru160.CounterMicroseconds}),
		leased.SnoPool(),
	} {
		if other, ok := pools[p.Name]; ok {
			t.Errorf("%v and %v have one name", p, other)
		}
		pools[p.Name] = p
	}
	if same := leased.NanoflakePool(nanoflake.Config{Epoch: nanoflake.DefaultEpoch()}); same.Name != "nanoflake" {
		t.Errorf("the default epoch, given, makes %v", same)
	}
}

// The restart tests run this binary as a process that makes IDs and dies.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FIRN_TEST_DIE_IN"); dir != "" {
		die(dir)
	}
	os.Exit(m.Run())
}

// die prints an ID of each format, and ends as by a crash: nothing is given back.
func die(dir string) {
	shift, err := time.ParseDuration(os.Getenv("FIRN_TEST_SHIFT"))
	if err != nil {
		panic(err)
	}
	// Windows are long, so that how fast the machine is makes no difference.
	o := leased.Options{Dir: dir, Lease: lease.Config{Worker: lease.Number(0), Wait: -1, Window: 20 * time.Second, First: 20 * time.Second}}
	clock := func() time.Time { return time.Now().Add(shift) }
	o.Lease.Clock = clock
	n, _, err := leased.Nanoflake(context.Background(), nanoflake.Config{Clock: clock, MaxBackward: -1}, o)
	if err == nil {
		var id nanoflake.ID
		if id, err = n.TryNext(); err == nil {
			fmt.Println("made", int64(id))
		}
	}
	if err != nil {
		fmt.Println("failed", err)
	}
	os.Exit(0)
}

// A worker set by hand has a memory: a process that crashed and comes again, its clock set back,
// makes no ID of a time that it may have used.
func TestCrashAndClockSetBack(t *testing.T) {
	dir := t.TempDir()
	crash := func(shift string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FIRN_TEST_DIE_IN="+dir, "FIRN_TEST_SHIFT="+shift)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	var last int64
	made := func(out string) {
		t.Helper()
		var id int64
		if _, err := fmt.Sscanf(out, "made %d", &id); err != nil || id <= last {
			t.Fatalf("%s, after %d", out, last)
		}
		last = id
	}
	made(crash("10s"))
	for shift, want := range map[string]string{"10s": "the worker is held by", "0s": "the worker is held by", "-1h": "the clock is wrong"} {
		if out := crash(shift); !strings.Contains(out, want) {
			t.Errorf("by a clock that was set from 10s to %s: %s", shift, out)
		}
	}
	made(crash("60s")) // after the end of the window
	made(crash("120s"))
	if out := crash("90000h"); !strings.Contains(out, "the clock is wrong") {
		t.Errorf("ten years ahead: %s", out)
	}
}

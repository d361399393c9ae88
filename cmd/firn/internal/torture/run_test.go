package torture

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
)

// asProcess makes the tests' program a process of a run.
const asProcess = "FIRN_TORTURE_TEST_PROCESS"

func TestMain(m *testing.M) {
	real := Formats()
	for _, d := range designs {
		formats = append(formats, d.format())
	}
	if os.Getenv(asProcess) == "1" {
		if err := Child(os.Stdin, os.Stdout, openDesign); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	realFormats = real
	os.Exit(m.Run())
}

// realFormats are the formats without a design.
var realFormats []string

// short is a run of some seconds.
func short(t *testing.T, format string) Config {
	return Config{Format: format, Processes: 4, Duration: 5 * time.Second, IDs: 100_000, Window: 80 * time.Millisecond,
		Seed: 5, State: t.TempDir(), Open: openDesign,
		Command: func() (*exec.Cmd, error) {
			self, err := os.Executable()
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), asProcess+"=1", "GORACE=atexit_sleep_ms=0")
			return cmd, err
		}}
}

func TestUnsupported(t *testing.T) {
	if Supported {
		return
	}
	if _, err := Run(context.Background(), short(t, "nanoflake")); err == nil {
		t.Error("a run on a system without signals")
	}
}

// until runs all configurations at once, since the runs wait most of the time. A run without enough events
// runs again, with another seed: a busy machine may leave a run too little time. until fails the test after
// three runs and wait.Patience.
func until(t *testing.T, configs []Config, enough func(i int, sum *Summary) bool) {
	t.Helper()
	turn.Take(t)
	left := make([]int, len(configs))
	for i := range left {
		left[i] = i
	}
	for end, try := time.Now().Add(wait.Patience), 0; try < 3 || time.Now().Before(end); try++ {
		sums, errs := make([]*Summary, len(configs)), make([]error, len(configs))
		var runs sync.WaitGroup
		for _, i := range left {
			runs.Go(func() { sums[i], errs[i] = Run(t.Context(), configs[i]) })
		}
		runs.Wait()
		left = slices.DeleteFunc(left, func(i int) bool {
			if errs[i] != nil {
				t.Fatal(configs[i].Format, errs[i])
			}
			sums[i].WriteTo(t.Output())
			ok := enough(i, sums[i])
			configs[i].Seed++
			configs[i].State = t.TempDir()
			return ok
		})
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("runs %d did not show enough", left)
}

// Runs of each format pass, with all kinds of faults.
func TestRun(t *testing.T) {
	needsSignals(t)
	var configs []Config
	for _, format := range realFormats {
		configs = append(configs, short(t, format))
	}
	until(t, configs, func(i int, sum *Summary) bool {
		if len(sum.Violations) > 0 {
			t.Fatal(configs[i].Format, "uniqueness was violated")
		}
		if left, err := os.ReadDir(configs[i].State); sum.Passed() && (err != nil || len(left) > 0) {
			t.Errorf("left: %v, %v", left, err)
		}
		return sum.Passed()
	})
}

// A run that takes longer than planned goes on until each kind and size of a fault has happened.
func TestOvertime(t *testing.T) {
	needsSignals(t)
	c := short(t, "nanoflake")
	c.Duration = time.Millisecond
	until(t, []Config{c}, func(_ int, sum *Summary) bool {
		return len(sum.Violations) == 0 && !slices.ContainsFunc(sum.Faults, func(f FaultCount) bool { return f.Happened == 0 }) && sum.TakeOvers > 0
	})
}

// A run finds each wrong design, and keeps the logs.
func TestDesigns(t *testing.T) {
	services.Full(t)
	needsSignals(t)
	var configs []Config
	for _, d := range designs {
		c := short(t, d.name)
		c.Store = d.name + ":" + t.TempDir()
		configs = append(configs, c)
	}
	until(t, configs, func(i int, sum *Summary) bool {
		for _, kind := range designs[i].found {
			if sum.Violations[kind] == 0 {
				return false
			}
		}
		if sum.Passed() || sum.Dir == "" {
			t.Fatal(designs[i].name, "passed, or left no logs")
		}
		if _, err := os.Stat(sum.Dir); err != nil {
			t.Error(err)
		}
		return true
	})
}

// The check finds a generator that is stuck after its clock was ahead for a moment, and finds nothing if the
// lease takes back the interval. The process is idle: other processes make an ID while their clock is ahead.
func TestStuck(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		d := *formats[0].Format
		if ahead {
			d.New = func(r shape.Recipe) (shape.Generator, error) {
				g, err := formats[0].New(r)
				return &designed{g, func(g grant.Grantee) grant.Grantee { return keepAhead{g} }}, err
			}
		}
		f := format{formats[0].name, &d, formats[0].shape}
		dir := t.TempDir()
		synctest.Test(t, func(t *testing.T) { runAhead(t, &f, dir) })
		k := newChecker(dir, &f, []ended{{number: 1}}, nil)
		testkit.OK(t, k.check(t.Context()))
		if found := k.sum.Violations[stuck] > 0; found != ahead {
			t.Errorf("ahead %v: found %v, %q", ahead, found, k.sum.Examples)
		}
		if !ahead && (k.sum.Events["withdrawn"] == 0 || k.sum.Events[alive] != 1) {
			t.Errorf("%v", k.sum.Events)
		}
	}
}

// runAhead runs an idle process. The clock of the process is ahead for a moment. In the moment, the process renews
// its lease, but makes no ID.
func runAhead(t *testing.T, f *format, dir string) {
	time.Sleep(time.Until(epoch)) // a bubble begins before the epoch of the format
	store := memlease.New()
	_, err := lease.Create(t.Context(), store, "torture", f.layout())
	testkit.OK(t, err)
	c, err := newChild(orders{Place: place{Dir: dir, Pool: "torture"}, Format: f.name, Process: 1, Window: time.Second, Rate: 1000, Idle: true},
		func(context.Context) (driver.Store, error) { return store, nil })
	testkit.OK(t, err)
	c.format = f
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- c.run(ctx) }()
	for c.logged.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	c.offset.Store(time.Hour.Microseconds()) // far more than patience
	time.Sleep(c.Window * 9 / 10)            // an idle process pauses for longer
	if n := c.logged.Load(); n != 1 {
		t.Errorf("%d IDs while the clock was ahead", n-1)
	}
	c.offset.Store(0)
	time.Sleep(5 * c.Window)
	c.last.Store(true)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A process that has no worker ends when it is asked to.
func TestEndsWithoutWorker(t *testing.T) {
	none := errors.New("no store")
	c, err := newChild(orders{Place: place{Dir: t.TempDir()}, Format: "nanoflake", Process: 1, Window: time.Second},
		func(context.Context) (driver.Store, error) { return nil, none })
	testkit.OK(t, err)
	time.AfterFunc(100*time.Millisecond, func() { c.last.Store(true) })
	testkit.OK(t, c.run(t.Context()))
}

// A cancelled run leaves nothing. A run whose processes fail returns their error.
func TestRunEnds(t *testing.T) {
	needsSignals(t)
	turn.Take(t)
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		c := short(t, "nanoflake")
		c.Duration = wait.Patience
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		c.Progress = func(float64, string) { cancel(why) }
		if sum, err := Run(ctx, c); !errors.Is(err, why) {
			t.Errorf("%v, %v", sum, err)
		}
		if left, err := os.ReadDir(c.State); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
	t.Run("failed", func(t *testing.T) {
		t.Parallel()
		c := short(t, "nanoflake")
		c.Command = func() (*exec.Cmd, error) { return exec.Command("sh", "-c", "read line; echo oh >&2; exit 3"), nil }
		if sum, err := Run(context.Background(), c); err == nil || !strings.HasSuffix(err.Error(), " failed: exit status 3: oh") {
			t.Errorf("%v, %v", sum, err)
		}
	})
}

// A process also takes a step of its clock before the epoch, and ends on request there. An ID shows a step.
func TestSteps(t *testing.T) {
	needsSignals(t)
	turn.Take(t)
	for _, name := range realFormats {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := testkit.Must(lookup(name))
			c := short(t, name)
			c.Processes = 1
			r, err := newRunner(t.Context(), c, f, c.State)
			testkit.OK(t, err)
			s, err := r.newSlot(0)
			testkit.OK(t, err)
			testkit.OK(t, s.start())
			defer func() { s.process.kill() }() // the last process
			testkit.OK(t, s.warm(t.Context()))
			wait.Until(t, "a step is taken", func() bool { return s.set(t.Context(), 2*time.Second) })
			wait.Until(t, "an ID is ahead of the time", func() bool {
				testkit.OK(t, s.revive())
				v, err := f.readID(s.process.ids, s.process.size()/int64(f.Size)-1)
				_, at := f.read(v)
				return err == nil && at > time.Now().UnixMicro()
			})
			wait.Until(t, "a step before the epoch is taken", func() bool { testkit.OK(t, s.revive()); return s.set(t.Context(), s.offset-30*year) })
			if happened, err := s.do(t.Context(), action{fault: fault{kind: finish}}); !happened || err != nil {
				t.Errorf("the process did not end: %v", err)
			}
		})
	}
}

func needsSignals(t *testing.T) {
	if !Supported {
		t.Skip("this system has no signals that stop and kill processes: TestUnsupported")
	}
}

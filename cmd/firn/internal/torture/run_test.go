package torture

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/snowflakesi"
)

// asProcess makes the tests' program a process of a run.
const asProcess = "FIRN_TORTURE_TEST_PROCESS"

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) == "1" {
		formats = append(formats, fewWorkers)
		if err := Child(os.Stdin, os.Stdout, nil); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fewWorkers is a format with four workers, so processes take over workers of other processes. Only some
// tests add fewWorkers to formats.
var fewWorkers = func() *format {
	d, set := *snowflakesi.Descriptor(), shape.Settings{ClockBits: 40, MachineBits: 2}
	s, err := d.Of(set)
	if err != nil {
		panic(err)
	}
	make := d.New
	d.New = func(r shape.Recipe) (shape.Generator, error) {
		r.Settings = set
		return make(r)
	}
	return &format{"few-workers", &d, s}
}()

// short is a run of some seconds.
func short(t *testing.T, format string, env ...string) Config {
	return Config{Format: format, Processes: 4, Duration: 5 * time.Second, IDs: 100_000, Window: 80 * time.Millisecond,
		Seed: 5, State: t.TempDir(),
		Command: func() (*exec.Cmd, error) {
			self, err := os.Executable()
			cmd := exec.Command(self)
			cmd.Env = append(append(os.Environ(), asProcess+"=1", "GORACE=atexit_sleep_ms=0"), env...)
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
	for _, format := range Formats() {
		configs = append(configs, short(t, format))
	}
	until(t, configs, func(i int, sum *Summary) bool {
		if len(sum.Violations) > 0 {
			t.Fatal(configs[i].Format, "uniqueness was violated")
		}
		if !sum.Passed() || sum.Total("close") == 0 {
			return false
		}
		if left, err := os.ReadDir(configs[i].State); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
		return true
	})
}

// A run that takes longer than planned goes on until each kind and size of a fault has happened.
func TestOvertime(t *testing.T) {
	needsSignals(t)
	turn.Take(t)
	c := short(t, "nanoflake")
	c.Duration = time.Second
	actions := []action{
		{kind: stop, size: 2 * c.Duration, name: "2 durations"}, // in which the time runs out
		{kind: kill}, {kind: stepBy, size: 100 * time.Millisecond, name: "+100ms"}, {kind: setBack}, {kind: finish},
	}
	r := runPlans(t, c, actions, actions, actions, actions)
	for _, a := range actions {
		if a.kind != setBack && !slices.ContainsFunc(r.notes, func(f fault) bool { return f.Happened && f.Kind == a.kind && f.Size == a.name }) {
			t.Errorf("it ended without %s %s", a.kind, a.name)
		}
	}
}

// A run finds each known bad design. The processes share few workers: a fault of the store then gives one
// worker to two processes.
func TestDefects(t *testing.T) {
	services.Full(t)
	needsSignals(t)
	formats = append(formats, fewWorkers)
	defer func() { formats = formats[:len(formats)-1] }()
	kinds := map[string][]string{
		Unfenced:    {outside, early},
		BlindPut:    {overlap},
		LostWrites:  {overlap},
		GiveAll:     {outside},
		LongEntries: {misnamed},
		FromMemory:  {stale},
	}
	var configs []Config
	for _, defect := range Defects() {
		configs = append(configs, short(t, fewWorkers.name, defect+"=1"))
	}
	until(t, configs, func(i int, sum *Summary) bool {
		for _, kind := range kinds[Defects()[i]] {
			if sum.Violations[kind] == 0 {
				return false
			}
		}
		if sum.Passed() || sum.Dir == "" {
			t.Fatal(Defects()[i], "passed, or left no logs")
		}
		if _, err := os.Stat(filepath.Join(sum.Dir, "run.json")); err != nil {
			t.Error(err)
		}
		return true
	})
}

// The check finds a generator that is stuck after its clock was ahead for a moment, and finds nothing if the
// lease takes back the interval. The process is idle: other processes make an ID while their clock is ahead.
func TestStuck(t *testing.T) {
	for _, defect := range []string{"", KeepAhead} {
		t.Run(defect, func(t *testing.T) {
			if defect != "" {
				t.Setenv(defect, "1")
			}
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { runAhead(t, dir) })
			k, err := readGrants(checkConfig{dir: dir, format: formats[0]}, record{Processes: []processRecord{{Number: 1, Idle: true}}})
			testkit.OK(t, err)
			if found := k.sum.Violations[stuck] > 0; found != (defect != "") {
				t.Errorf("found: %v, %q", found, k.sum.Examples)
			}
			if defect == "" && (k.sum.Withdrawn == 0 || k.sum.Alive != 1) {
				t.Errorf("%d withdrawn, %d alive, %d excused", k.sum.Withdrawn, k.sum.Alive, k.sum.Excused)
			}
		})
	}
}

// runAhead runs an idle process. The clock of the process is ahead for a moment. In the moment, the process renews
// its lease, but makes no ID.
func runAhead(t *testing.T, dir string) {
	time.Sleep(time.Until(epoch)) // a bubble begins before the epoch of the format
	f := formats[0]
	pool, err := lease.Create(t.Context(), memlease.New(), "torture", f.layout())
	testkit.OK(t, err)
	c := &child{format: f, window: time.Second, pool: pool, news: io.Discard, idle: true}
	c.confirm = newConfirmer(c, dir, 1)
	for _, file := range []struct {
		of   **os.File
		path string
	}{{&c.ids, idsPath(dir, 1)}, {&c.journal.file, journalPath(dir, 1)}} {
		if *file.of, err = os.Create(file.path); err != nil {
			t.Fatal(err)
		}
		defer (*file.of).Close()
	}
	rate := 1000.0
	c.rate.Store(&rate)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.run(ctx) }()
	for c.logged.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	c.offset.Store(time.Hour.Microseconds()) // far more than patience
	time.Sleep(c.window * 9 / 10)            // an idle process pauses for longer
	if n := c.logged.Load(); n != 1 {
		t.Errorf("%d IDs while the clock was ahead", n-1)
	}
	c.offset.Store(0)
	time.Sleep(5 * c.window)
	c.prove.Store(true)
	time.Sleep(5 * c.window)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
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
		c.Progress = func(Progress) { cancel(why) }
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

// A process also ends on request while its clock is before the epoch.
func TestEndsBeforeTheEpoch(t *testing.T) {
	needsSignals(t)
	turn.Take(t)
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			c := short(t, format)
			c.Duration = time.Second
			wait.Until(t, "a step is taken in time, and then an end", func() bool {
				c.State = t.TempDir()
				r := runPlans(t, c, []action{{kind: stepBy, size: -30 * year, name: "-30y"}, {kind: finish}})
				return r.notes[0].Happened && r.notes[1].Kind == finish
			})
		})
	}
}

// runPlans makes a run with a plan for each process.
func runPlans(t *testing.T, c Config, plans ...[]action) *runner {
	t.Helper()
	f, err := lookup(c.Format)
	testkit.OK(t, err)
	at := placeOf(c, c.State)
	testkit.OK(t, at.create(t.Context(), nil, f))
	r := newRunner(c, f, at)
	r.plans = plans
	testkit.OK(t, r.run(t.Context()))
	return r
}

func needsSignals(t *testing.T) {
	if !Supported {
		t.Skip("this system has no signals that stop and kill processes: TestUnsupported")
	}
}

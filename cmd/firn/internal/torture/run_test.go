package torture

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// asProcess makes the tests' program a process of a run, which startsLate has take its time.
const (
	asProcess  = "FIRN_TORTURE_TEST_PROCESS"
	startsLate = "FIRN_TORTURE_TEST_LATE"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProcess) == "1" {
		late, _ := time.ParseDuration(os.Getenv(startsLate))
		time.Sleep(late)
		if err := Child(os.Stdin, os.Stdout, openForTest); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// openForTest opens what serveFiles serves.
func openForTest(_ context.Context, address string) (driver.Store, error) {
	return dialFiles(address)
}

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

// until runs all at once, also on a machine of few processors, since they wait most of the time. Those whose summary
// is not enough run again, with another seed: where a machine has much else to do, a run may come to too little.
func until(t *testing.T, configs []Config, enough func(i int, sum *Summary) bool) {
	t.Helper()
	left := make([]int, len(configs))
	for i := range left {
		left[i] = i
	}
	for range 5 {
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
		if sum.Total("kill") < 4 || sum.Total("stop") < 4 || sum.Total("step") < 12 || sum.Total("close") == 0 || sum.IDs < 10_000 {
			return false
		}
		if left, err := os.ReadDir(configs[i].State); sum.Passed() && (err != nil || len(left) > 0) {
			t.Errorf("left: %v, %v", left, err)
		}
		return sum.Passed()
	})
}

// Where all takes longer than was planned, a run goes on until each kind and size of a fault has happened.
func TestOvertime(t *testing.T) {
	needsSignals(t)
	c := short(t, "nanoflake", startsLate+"=700ms")
	c.Duration = 3 * time.Second
	sum, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sum.WriteTo(t.Output())
	skipped := 0
	for _, f := range sum.Faults {
		skipped += f.Planned - f.Happened
		if f.Planned > 0 && f.Happened == 0 {
			t.Errorf("it ended without %s %s", f.Kind, f.Size)
		}
	}
	if skipped == 0 {
		t.Error("all that was planned could be done in time")
	}
}

// A run passes also on a store behind a network that is cut and slow, whose messages get
// lost, come late and twice, and whose server breaks down.
func TestRunOverNetwork(t *testing.T) {
	needsSignals(t)
	server, err := serveFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer server.close()
	c := short(t, "nanoflake")
	c.Store, c.Open = server.address(), openForTest
	c.Servers, c.Via = []string{server.address()}, func(servers []string) string { return servers[0] }
	c.Server, c.Messages = server, true
	c.Duration = 8 * time.Second
	sum, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sum.WriteTo(t.Output())
	if len(sum.Violations) > 0 {
		t.Fatal("uniqueness was violated")
	}
	for _, k := range []kind{cutRequests, cutReplies, delay, breakdown, kill, stop, stepBy} {
		if sum.Total(string(k)) == 0 {
			t.Errorf("no fault of the kind %q", k)
		}
	}
}

// Each design that is known to be bad is found out.
func TestDefects(t *testing.T) {
	needsSignals(t)
	kinds := map[string][]string{
		Unfenced:   {outside, early},
		BlindPut:   {overlap},
		LostWrites: {overlap},
		GiveAll:    {outside},
	}
	var configs []Config
	for _, defect := range Defects() {
		configs = append(configs, short(t, "nanoflake", defect+"=1"))
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

// A generator that is stuck after a clock was ahead for a moment is found out, and none is if the lease takes
// back the times.
func TestStuck(t *testing.T) {
	needsSignals(t)
	for _, defect := range []string{"", KeepAhead} {
		t.Run(defect, func(t *testing.T) {
			t.Parallel()
			for try := 0; ; try++ {
				var env []string
				if defect != "" {
					env = append(env, defect+"=1")
				}
				c := short(t, "nanoflake", env...)
				c.Processes, c.Window, c.Duration = 3, time.Second, 2*time.Second
				r := runPlans(t, c, nil, nil, []action{{kind: stepBy, size: time.Minute, name: "+1m"}, {kind: setBack, after: 300 * time.Millisecond}})
				k, err := readGrants(checkConfig{dir: r.place.Dir, format: r.format}, r.record())
				if err != nil {
					t.Fatal(err)
				}
				found := k.sum.Violations[stuck] > 0
				if found && defect == "" {
					t.Fatal(k.sum.Examples)
				}
				// An idle process may have made an ID while its clock was ahead, or not have renewed its lease.
				if found || defect == "" && k.sum.Withdrawn > 0 && k.sum.Alive == 3 {
					return
				}
				if try == 9 {
					t.Fatalf("%d withdrawn, %d alive, %d excused", k.sum.Withdrawn, k.sum.Alive, k.sum.Excused)
				}
			}
		})
	}
}

// A run that is ended leaves nothing, and one whose processes fail says so.
func TestRunEnds(t *testing.T) {
	needsSignals(t)
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		c := short(t, "nanoflake")
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(time.Second, func() { cancel(why) })
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

// A process ends when it is asked to also while its clock is where there are no timestamps.
func TestEndsBeforeTheEpoch(t *testing.T) {
	needsSignals(t)
	for _, format := range Formats() {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			c := short(t, format)
			c.Duration = time.Second
			r := runPlans(t, c, []action{{kind: stepBy, size: -30 * year, name: "-30y"}})
			if len(r.notes) != 1 || !r.notes[0].Happened {
				t.Fatalf("the step did not happen: %+v", r.notes)
			}
		})
	}
}

// runPlans makes a run with a plan for each process.
func runPlans(t *testing.T, c Config, plans ...[]action) *runner {
	t.Helper()
	f, err := lookup(c.Format)
	if err != nil {
		t.Fatal(err)
	}
	at := placeOf(c, c.State)
	if err := at.create(t.Context(), nil, f); err != nil {
		t.Fatal(err)
	}
	r := newRunner(c, f, at)
	r.plans = plans
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func needsSignals(t *testing.T) {
	if !Supported {
		t.Skip("this system has no signals that stop and kill processes: TestUnsupported")
	}
}

package etcdtest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/internal/testing/wait"
)

func TestMain(m *testing.M) { os.Exit(undo.Main(m)) }

// led reports whether a member has a leader.
func (c *Cluster) led(t *testing.T, i int) bool {
	body, err := c.get(t.Context(), i, "/metrics")
	return err == nil && bytes.Contains(body, []byte("\netcd_server_has_leader 1\n"))
}

func TestFaults(t *testing.T) {
	services.Full(t)
	turn.Take(t)
	c := New(t, Config{Args: []string{"--heartbeat-interval", "50", "--election-timeout", "500"}})
	leader := func() int {
		t.Helper()
		i, err := c.Leader(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	healthy := func() {
		t.Helper()
		if err := c.WaitHealthy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}

	first := leader()
	c.Kill(first)
	if c.available()[first] || c.Stop(first) == nil {
		t.Error("a member that was killed runs")
	}
	second := leader()
	if second == first {
		t.Errorf("m%d leads after it was killed", first)
	}
	check(c.Restart(first))
	healthy()

	// The leader is cut off from all members. Clients still reach the leader.
	second = leader()
	c.Isolate(second)
	third := leader()
	if third == second {
		t.Errorf("m%d leads after it was cut off", second)
	}
	wait.Until(t, "one that is cut off knows that it has no leader", func() bool { return !c.led(t, second) })
	if !c.led(t, third) {
		t.Errorf("m%d, which leads, has no leader", third)
	}
	c.Heal()
	wait.Until(t, "one that was cut off has a leader again", func() bool { return c.led(t, second) })
	healthy()

	// A link to the leader is cut: one member has no leader, and the other member is not affected.
	third = leader()
	one, other := (third+1)%3, (third+2)%3
	c.Cut(third, one)
	wait.Until(t, "one that is cut off from the leader knows that it has none", func() bool { return !c.led(t, one) })
	if leader() == one {
		t.Errorf("m%d leads, which does not reach all", one)
	}
	wait.Until(t, "those who reach each other have a leader", func() bool { return c.led(t, other) && c.led(t, third) })
	c.Heal()
	wait.Until(t, "the link is whole again", func() bool { return c.led(t, one) })
	// A link between two followers is cut: both keep the leader.
	third = leader()
	c.Cut((third+1)%3, (third+2)%3)
	// A member needs about one heartbeat of each election time-out from the leader.
	followers := []int{(third + 1) % 3, (third + 2) % 3}
	begun := []int{c.network.passed(third, followers[0]), c.network.passed(third, followers[1])}
	wait.Until(t, "the leader and the followers have exchanged the heartbeats of two election time-outs", func() bool {
		return c.network.passed(third, followers[0]) >= begun[0]+40 && c.network.passed(third, followers[1]) >= begun[1]+40
	})
	wait.Until(t, "all have a leader, who are cut off from none", func() bool { return c.led(t, 0) && c.led(t, 1) && c.led(t, 2) })
	c.Heal()
	healthy()

	third = leader()
	check(c.Stop(third))
	if next := leader(); next == third {
		t.Errorf("m%d leads after it was stopped", third)
	}
	check(c.Continue(third))
	healthy()

	pids := c.pids()
	c.Close()
	for i, pid := range pids {
		if running(pid) {
			t.Errorf("m%d runs after Close", i)
		}
	}
	if _, err := os.Stat(c.dir); !os.IsNotExist(err) {
		t.Errorf("the data are there after Close: %v", err)
	}
}

// running reports whether a process runs. A zombie does not run.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// TestEnd: members end with the test, however the test ends.
func TestEnd(t *testing.T) {
	if how := os.Getenv("FIRN_ETCDTEST_END"); how != "" {
		c, err := Start(t.Context(), Config{Members: 1, Dir: os.Getenv("FIRN_ETCDTEST_DIR")})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("\nmember %d\n", c.pids()[0])
		switch how {
		case "panic":
			go panic("as was wanted")
		case "exit":
			os.Exit(1)
		}
		select {}
	}
	New(t, Config{Members: 1}) // skips if there is no server
	for _, how := range []string{"panic", "exit", "kill"} {
		t.Run(how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestEnd$")
			cmd.Env = append(os.Environ(), "FIRN_ETCDTEST_END="+how, "FIRN_ETCDTEST_DIR="+t.TempDir())
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			pid, said := 0, ""
			for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
				said += lines.Text() + "\n"
				if text, ok := strings.CutPrefix(lines.Text(), "member "); ok {
					pid, _ = strconv.Atoi(text)
				}
			}
			if pid == 0 {
				t.Fatalf("it has started no member:\n%s", said)
			}
			if how == "kill" {
				if !running(pid) {
					t.Error("the member does not run")
				}
				cmd.Process.Kill()
			}
			cmd.Wait()
			wait.Until(t, "the member ends with its test", func() bool { return !running(pid) })
		})
	}
}

// A record is a testing.TB that records calls.
type record struct {
	testing.TB
	skipped, failed string
}

func (r *record) Helper()                  {}
func (r *record) Context() context.Context { return context.Background() }
func (r *record) Skipf(form string, args ...any) {
	r.skipped = fmt.Sprintf(form, args...)
	runtime.Goexit()
}
func (r *record) Fatalf(form string, args ...any) {
	r.failed = fmt.Sprintf(form, args...)
	runtime.Goexit()
}

func TestNoServer(t *testing.T) {
	t.Setenv("FIRN_ETCD_SERVER", "/not/there")
	for _, required := range []string{"", "1"} {
		t.Setenv("FIRN_REQUIRE_SERVICES", required)
		r := &record{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			New(r, Config{})
		}()
		<-done
		said, other := r.skipped, r.failed
		if required != "" {
			said, other = other, said
		}
		if !strings.Contains(said, "there is no etcd") || !strings.Contains(said, "/not/there") || other != "" {
			t.Errorf("FIRN_REQUIRE_SERVICES=%q: skipped: %q, failed: %q", required, r.skipped, r.failed)
		}
	}
	if _, err := Start(t.Context(), Config{}); err == nil {
		t.Error("a cluster was started without a server")
	}
}

// The error of a member that does not start has the log of the member.
func TestNoStart(t *testing.T) {
	New(t, Config{Members: 1}) // skips if there is no server
	_, err := Start(t.Context(), Config{Members: 1, Args: []string{"--heartbeat-interval", "1000"}})
	if err == nil || !strings.Contains(err.Error(), "m0 has ended by itself") || !strings.Contains(err.Error(), "election-timeout") {
		t.Errorf("%v", err)
	}
}

//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/snowflakesi"
)

// crowdEnv makes the test binary lease a worker and print IDs. The value is the directory, and the
// number of IDs.
const crowdEnv = "FIRN_FILELEASE_CROWD"

// mint waits for the end of its input, and then prints IDs, one a line. mint makes few IDs in each
// millisecond, so two processes with one worker make equal IDs.
func mint(args []string) error {
	s, err := open(args[0], false, plain)
	if err != nil {
		return err
	}
	defer s.Close()
	left, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin)
	wait.For(func() bool { // the disk may stand still for a whole window
		left, err = mintMore(s, left)
		return !errors.Is(err, lease.ErrLeaseExpired)
	})
	return err
}

// mintMore leases a worker, prints up to that many IDs, and returns how many are left.
func mintMore(s driver.Store, left int) (int, error) {
	ctx := context.Background()
	g, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: 3}, Leased: true})
	if err != nil {
		return left, err
	}
	held, err := lease.Start(ctx, s, g, lease.Config{Wait: 5 * time.Minute, Timeout: wait.Patience}) // the disk may be slow
	if err != nil {
		return left, err
	}
	for ; left > 0; left-- {
		var id snowflakesi.ID
		wait.For(func() bool { // a busy machine may be late with an interval
			id, err = g.Next(ctx)
			return !errors.Is(err, iderr.ErrFenced) || errors.Is(err, lease.ErrLeaseExpired)
		})
		if err != nil {
			held.Close()
			return left, err
		}
		fmt.Println(id)
		if left%4 == 1 {
			time.Sleep(time.Millisecond)
		}
	}
	return 0, held.Close()
}

// crowd starts processes at once, kills some of them once they have made an ID, and returns the
// IDs of all, and how often each was made.
func crowd(t *testing.T, dir string, processes, kills, ids int) (made int, times map[string]int) {
	t.Helper()
	start, started, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	times = make(map[string]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d", crowdEnv, dir, ids))
		cmd.Stdin = start
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Error(err)
			break
		}
		all.Go(func() {
			last := rand.N(ids)
			n := 0
			for lines := bufio.NewReader(out); ; n++ {
				line, err := lines.ReadString('\n')
				if err != nil {
					break // a killed process may leave half a line, which is no ID
				}
				mu.Lock()
				times[strings.TrimSpace(line)]++
				made++
				mu.Unlock()
				if i < kills && n == last {
					cmd.Process.Kill()
				}
			}
			err := cmd.Wait()
			if i < kills {
				return
			}
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			if n != ids {
				t.Errorf("process %d has made %d IDs, not %d", i, n, ids)
			}
		})
	}
	started.Close()
	start.Close()
	all.Wait()
	return made, times
}

// twice returns the number of IDs that were made more than once.
func twice[ID comparable](times map[ID]int) (n int) {
	for _, t := range times {
		if t > 1 {
			n++
		}
	}
	return n
}

// TestCrowd: 50 processes at once share eight workers, and some are killed. No ID comes twice.
func TestCrowd(t *testing.T) {
	turn.Take(t)
	made, times := crowd(t, t.TempDir(), 50, 10, 200)
	if n := twice(times); n > 0 {
		t.Errorf("%d of %d IDs have come twice", n, made)
	}
	if made < 40*200 {
		t.Errorf("only %d IDs", made)
	}
}

// TestCrowdGap: a process takes a worker between the reading and the locking of another process. One of them
// has the worker.
func TestCrowdGap(t *testing.T) {
	begin := time.Now()
	contend := lease.Config{Worker: lease.Number(7), Wait: -1, Window: wait.Patience, First: wait.Patience, Timeout: wait.Patience} // the disk may be slow
	dir := t.TempDir()
	var later atomic.Int64
	other := mustOpen(t, dir, plain)
	testkit.OK(t, minter.Create(t.Context(), other))
	now := func() time.Time { return begin.Add(time.Duration(later.Load())) }
	var taken []*minter.Generator
	take := func(s *Store) {
		g, l, err := minter.StartAt(t.Context(), s, now, contend)
		if err == nil {
			t.Cleanup(func() { l.Close() })
			taken = append(taken, g)
		} else if !errors.Is(err, lease.ErrHeld) {
			t.Error(err) // also in a goroutine of a lease
		}
	}
	// A process has used the worker before: without an entry there is nothing to lock.
	_, l, err := minter.StartAt(t.Context(), other, now, contend)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	later.Add(int64(time.Hour))
	g := &gap{path: other.file(minter.Pool + "/workers/00007"), do: func() { take(other) }}
	take(mustOpen(t, dir, g.hooks()))
	if g.do != nil {
		t.Fatal("no process has passed the gap")
	}
	if len(taken) != 1 {
		t.Errorf("%d processes have the worker", len(taken))
	}
}

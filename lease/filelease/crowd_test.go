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
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/snowflakesi"
)

// crowdEnv makes the test binary lease a worker and print IDs. The value is the directory, the
// number of IDs, and the defect.
const crowdEnv = "FIRN_FILELEASE_CROWD"

// mint waits for the end of its input, and then prints IDs, one a line. mint makes few IDs in each
// millisecond, so two processes with one worker make equal IDs.
func mint(args []string) error {
	s, err := open(args[0], named, defect(args[2]))
	if err != nil {
		return err
	}
	defer s.Close()
	g, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: 3}, Leased: true})
	if err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin)
	ctx := context.Background()
	held, err := lease.Start(ctx, s, g, lease.Config{Wait: 5 * time.Minute, Timeout: 30 * time.Second})
	if err != nil {
		return err
	}
	times, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	patience := 10000
	for n := 0; n < times; {
		id, err := g.Next(ctx)
		switch {
		case errors.Is(err, iderr.ErrFenced) && patience > 0: // the machine is slow
			patience--
			time.Sleep(10 * time.Millisecond)
			continue
		case err != nil:
			return err
		}
		fmt.Println(id)
		if n++; n%4 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	return held.Close()
}

// crowd starts processes at once, kills some of them once they have made an ID, and returns the
// IDs of all, and how often each was made. Processes with a defect end with the first ID that comes
// twice.
func crowd(t *testing.T, dir string, processes, kills, ids int, defect string) (made int, times map[string]int) {
	t.Helper()
	patience := 10 * time.Minute
	if defect != "" {
		patience = time.Minute // without a lock, a lease may never get its worker back
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	start, started, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	times = make(map[string]int)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range processes {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d\n%s", crowdEnv, dir, ids, defect))
		cmd.Stdin = start
		if defect == "" {
			cmd.Stderr = os.Stderr
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			if ctx.Err() == nil || defect == "" {
				t.Error(err)
			}
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
				if defect != "" && times[strings.TrimSpace(line)] > 1 {
					stop()
				}
				mu.Unlock()
				if i < kills && n == last {
					cmd.Process.Kill()
				}
			}
			err := cmd.Wait()
			if i < kills || defect != "" {
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
func twice(times map[string]int) (n int) {
	for _, t := range times {
		if t > 1 {
			n++
		}
	}
	return n
}

// TestCrowd: 50 processes at once share eight workers, and some are killed. No ID comes twice.
func TestCrowd(t *testing.T) {
	dir := t.TempDir()
	made, times := crowd(t, dir, 50, 10, 200, "")
	if n := twice(times); n > 0 {
		t.Errorf("%d of %d IDs have come twice", n, made)
	}
	if made < 40*200 {
		t.Errorf("only %d IDs", made)
	}
}

// TestCrowdKnownBad: IDs come twice if the lock of an entry locks nothing.
func TestCrowdKnownBad(t *testing.T) {
	for range 5 {
		made, times := crowd(t, t.TempDir(), 50, 0, 200, "unlocked")
		if n := twice(times); n > 0 {
			t.Logf("%d of %d IDs have come twice", n, made)
			return
		}
	}
	t.Error("no ID has come twice without a lock")
}

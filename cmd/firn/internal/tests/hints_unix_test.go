//go:build unix

package tests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/snowflakesi"
)

// A crowd is generators of a pool, which go on minting while a user follows the hints of the command line.
// A Nanoflake's sequence begins at 0 in each millisecond, so two generators with the same worker soon
// make the same ID.
type crowd struct {
	*testing.T
	dir    string
	window time.Duration
	all    sync.WaitGroup
	live   []*member

	mu    sync.Mutex
	seen  map[nanoflake.ID]bool
	twice int
}

const (
	crowdPool   = "nanoflake"
	crowdWindow = 400 * time.Millisecond
	longWindow  = 10 * time.Minute
)

func newCrowd(t *testing.T, window time.Duration) *crowd {
	c := &crowd{T: t, window: window, dir: filepath.Join(t.TempDir(), "the state"), seen: make(map[nanoflake.ID]bool)}
	t.Cleanup(c.all.Wait)
	return c
}

// A member is one of a crowd.
type member struct {
	minted atomic.Int64
	lease  *lease.Lease
	stop   context.CancelFunc
}

// startIn leases a worker of the pool in a directory.
func startIn(ctx context.Context, dir string, g lease.Generator, c lease.Config) (*lease.Lease, error) {
	store, err := filelease.Open(dir)
	if err != nil {
		return nil, err
	}
	return lease.Start(ctx, store, g, c)
}

// join starts a generator that waits for a worker of the crowd's pool, and mints until it is stopped.
func (c *crowd) join() *member {
	c.Helper()
	ctx, stop := context.WithCancel(c.Context())
	m := &member{stop: stop}
	started := make(chan error, 1)
	c.all.Go(func() {
		g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
		var l *lease.Lease
		if err == nil {
			l, err = startIn(ctx, c.dir, g, lease.Config{Window: c.window, Wait: wait.Patience, Timeout: time.Minute})
		}
		m.lease = l
		started <- err
		if err != nil {
			return
		}
		defer l.Close()
		for ctx.Err() == nil {
			if id, err := g.TryNext(); err == nil {
				c.mu.Lock()
				if c.seen[id] {
					c.twice++
				}
				c.seen[id] = true
				c.mu.Unlock()
				m.minted.Add(1)
			}
			time.Sleep(time.Millisecond)
		}
	})
	err, _ := wait.Receive(c, "the end of the wait for a worker", started)
	c.check(err)
	return m
}

// mints waits until a member has minted so many IDs more.
func (c *crowd) mints(m *member, more int64) {
	c.Helper()
	enough := m.minted.Load() + more
	if !wait.For(func() bool { return m.minted.Load() >= enough }) {
		c.Fatalf("it does not mint: %v", m.lease.Err())
	}
}

// trouble waits until a member cannot renew for a reason, and returns the hints of the command line.
func (c *crowd) trouble(m *member, why error) string {
	c.Helper()
	var err error
	wait.Until(c, fmt.Sprintf("a renewal fails: %v", why), func() bool {
		err = m.lease.Err()
		return errors.Is(err, why)
	})
	st := &stores.State{Dir: stores.Directory(c.dir)}
	st.Makes(crowdPool, "nanoflake", nil)
	return strings.Join(cli.Hints(st.Hint(err)), "\n")
}

func (c *crowd) file(key string) string { return filepath.Join(c.dir, crowdPool, key+"=") }

// worker returns the file of a member's worker.
func (c *crowd) worker(m *member) string {
	return c.file(fmt.Sprintf("workers/%05d", m.lease.Worker()))
}

// spoil changes a file while no generator replaces the file, which would undo the change.
func (c *crowd) spoil(path string, do func(path string) error) {
	c.Helper()
	for {
		f, err := os.Open(path)
		c.check(err)
		defer f.Close()
		c.check(syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		is, err := f.Stat()
		c.check(err)
		if now, err := os.Stat(path); err == nil && os.SameFile(is, now) {
			c.check(do(path))
			return
		}
	}
}

// cut and overwrite are for spoil.
func cut(path string) error { return os.Truncate(path, 0) }

func overwrite(path string) error { return os.WriteFile(path, []byte("what is this?\n"), 0o600) }

func (c *crowd) check(errs ...error) { c.Helper(); check(c.T, errs...) }

// recover types the first recovery that a text tells to type, as it stands. With short windows it gets the flags for them. The
// recovery makes workers wait until the end of each interval that a generator has.
func (c *crowd) recover(text string) {
	c.Helper()
	line := regexp.MustCompile(`firn pool recover .*`).FindString(text)
	if line == "" {
		c.Fatalf("there is no command in: %s", text)
	}
	line += " --yes --no-wait --json"
	if c.window == crowdWindow {
		line += " --skew 50ms --window " + crowdWindow.String()
	}
	out, err := exec.Command("sh", "-c", "exec "+line).Output()
	if err != nil {
		c.Fatalf("%s: %v\n%s", line, err, out)
	}
	var recovered struct{ Floor time.Time }
	c.check(json.Unmarshal(out, &recovered))
	for _, m := range c.live {
		if until := m.lease.Until(); recovered.Floor.Before(until) && c.window == longWindow { // short windows are renewed meanwhile
			c.Errorf("%s: workers are free from %v on, and a generator goes on until %v", line, recovered.Floor, until)
		}
	}
}

// end stops all generators.
func (c *crowd) end() {
	for _, m := range c.live {
		m.stop()
	}
	c.all.Wait()
}

// says returns the error of firn new, which cannot use the pool.
func (c *crowd) says() string {
	c.Helper()
	stdout, stderr, code := firnRun(c.T, "", "new", "nanoflake", "--state", c.dir, "--wait", "0")
	if code != cli.ExitFailed || stdout != "" {
		c.Fatalf("firn new: exit code %d\n%s%s", code, stdout, stderr)
	}
	return stderr
}

// TestFollowHints follows the hints of the command line to the letter, beside running generators: no ID is made twice, with
// short windows and with windows of ten minutes.
func TestFollowHints(t *testing.T) {
	t.Parallel()
	turn.Take(t)
	for name, follow := range map[string]func(c *crowd){
		"a damaged worker's record": func(c *crowd) {
			c.spoil(c.worker(c.live[0]), overwrite)
			c.recover(c.says())
		},
		"a worker's record cut to nothing, as doctor says": func(c *crowd) {
			c.spoil(c.worker(c.live[0]), cut)
			stdout, _, _ := firnRun(c.T, "", "pool", "doctor", "--state", c.dir)
			c.recover(stdout)
		},
		"a missing worker's record": func(c *crowd) {
			c.spoil(c.worker(c.live[1]), os.Remove)
			c.recover(c.says())
		},
		"all workers' records missing, as firn pool show says": func(c *crowd) {
			c.check(os.Rename(filepath.Join(c.dir, crowdPool, "workers"), c.dir+" workers"))
			_, stderr, _ := firnRun(c.T, "", "pool", "show", crowdPool, "--state", c.dir)
			c.recover(stderr)
		},
		"the pool's record missing": func(c *crowd) {
			c.spoil(c.file("pool"), os.Remove)
			c.recover(c.says())
		},
		"the pool's record damaged": func(c *crowd) {
			c.spoil(c.file("pool"), overwrite)
			c.recover(c.says())
		},
		"the pool's record and a worker's missing": func(c *crowd) {
			c.spoil(c.file("pool"), os.Remove)
			c.spoil(c.worker(c.live[2]), os.Remove)
			c.recover(c.says())
		},
		"a folder in the place of a record": func(c *crowd) {
			path := c.worker(c.live[0])
			c.spoil(path, func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) })
			text := c.says()
			if !strings.Contains(text, "move it away: "+path) {
				c.Fatal(text)
			}
			c.check(os.Rename(path, c.dir+"/away"))
			c.recover(text)
		},
		"all pools of a copy": func(c *crowd) {
			c.check(os.Remove(filepath.Join(c.dir, ".place")))
			text := c.says()
			c.end()
			c.recover(text)
		},
		"a store that has gone back": func(c *crowd) {
			backup := make(map[string][]byte)
			files, err := filepath.Glob(c.file("*/*"))
			c.check(err)
			for _, path := range append(files, c.file("pool")) {
				content, err := os.ReadFile(path)
				c.check(err)
				backup[path] = content
			}
			for _, m := range c.live { // they have more times by now than the backup knows
				until := m.lease.Until()
				wait.Until(c, "the lease is renewed", func() bool { return m.lease.Until().After(until.Add(crowdWindow / 2)) })
			}
			for path, content := range backup {
				c.spoil(path, func(path string) error {
					return errors.Join(os.WriteFile(path+" restored", content, 0o600), os.Rename(path+" restored", path))
				})
			}
			c.recover(c.trouble(c.live[0], lease.ErrRolledBack))
		},
		"a directory that is away, and is put back": func(c *crowd) {
			c.check(os.Rename(c.dir, c.dir+" away"))
			if text := c.trouble(c.live[0], fs.ErrNotExist); !strings.Contains(text, "Put the original back") {
				c.Fatal(text)
			}
			c.check(os.Rename(c.dir+" away", c.dir))
		},
		"a directory that is lost": func(c *crowd) {
			c.check(os.Rename(c.dir, c.dir+" away"))
			text := c.trouble(c.live[0], fs.ErrNotExist)
			if !strings.Contains(text, "Stop all processes that use this store") {
				c.Fatal(text)
			}
			c.end()
			c.recover(regexp.MustCompile(`firn pool recover .* --create .*`).FindString(text))
		},
	} {
		for _, window := range []time.Duration{crowdWindow, longWindow} {
			if renews := strings.HasPrefix(name, "a store") || strings.HasPrefix(name, "a directory"); renews && window == longWindow {
				continue // the error comes with a renewal, after minutes
			}
			t.Run(name+", "+window.String(), func(t *testing.T) {
				t.Parallel() // most of the time it waits for windows to end
				c := newCrowd(t, window)
				c.live = []*member{c.join(), c.join(), c.join()}
				for _, m := range c.live {
					c.mints(m, 100)
				}
				follow(c)
				if window == crowdWindow {
					c.mints(c.join(), 1000)
				}
				c.mu.Lock()
				defer c.mu.Unlock()
				if c.twice > 0 {
					t.Errorf("%d IDs of %d were made twice", c.twice, len(c.seen))
				}
			})
		}
	}
}

// TestBesideInOneDirectory: two pools for the same IDs in one directory share no worker on one machine.
func TestBesideInOneDirectory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the locks that pools exclude each other by")
	}
	dir := t.TempDir()
	if _, stderr, code := firnRun(t, "", "pool", "create", "snowflakesi", "--machine-bits", "1", "--name", "another", "--allow-overlap", "--state", dir); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	taken := make(map[int]bool)
	for _, pool := range []string{"", "another"} {
		g, err := snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{ClockBits: 40, MachineBits: 1}})
		check(t, err)
		l, err := startIn(t.Context(), dir, g, lease.Config{Pool: pool, Timeout: wait.Patience})
		check(t, err)
		defer l.Close()
		if taken[l.Worker()] {
			t.Errorf("both have worker %d", l.Worker())
		}
		taken[l.Worker()] = true
	}
}

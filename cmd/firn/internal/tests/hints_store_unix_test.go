//go:build unix

package tests

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/snowflakesi"
)

// printed finds the commands in hints, each up to the end of its line. Commands for another store have no store of their own.
var printed = regexp.MustCompile(`  (firn pool (create|doctor|list|rescue|show)\b.*)`)

// interrupted is a store in which a rescue ends after the pool's own record.
type interrupted struct{ driver.Store }

func (s interrupted) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if strings.Contains(key, "/workers/") {
		return driver.None, errors.New("interrupted")
	}
	return s.Store.Put(ctx, key, value, rev)
}

// workersOf returns the files of the workers of the pool nanoflake in a directory.
func workersOf(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "nanoflake", "workers", "*="))
	check(t, err)
	return files
}

// ownRecord returns the file of the pool itself.
func ownRecord(dir string) string { return filepath.Join(dir, "nanoflake", "pool=") }

// A spoiling does something to the directory of a store.
type spoiling struct {
	spoil func(t *testing.T, dir string)
	says  []string // commands that say so
	mends bool     // the printed commands change the store
}

var spoilings = map[string]spoiling{
	"a missing worker's record": {
		func(t *testing.T, dir string) { check(t, os.Remove(workersOf(t, dir)[0])) },
		[]string{"new nanoflake", "pool show nanoflake", "pool doctor", "pool list"}, true,
	},
	"a damaged worker's record": {
		func(t *testing.T, dir string) { check(t, overwrite(workersOf(t, dir)[0])) },
		[]string{"new nanoflake", "pool show nanoflake", "pool doctor", "pool list"}, true,
	},
	"a folder in the place of a record": {
		func(t *testing.T, dir string) {
			path := workersOf(t, dir)[0]
			check(t, os.Remove(path), os.Mkdir(path, 0o700))
		},
		[]string{"new nanoflake"}, false,
	},
	"the pool's record missing": {
		func(t *testing.T, dir string) { check(t, os.Remove(ownRecord(dir))) },
		[]string{"new nanoflake", "pool show nanoflake", "pool doctor", "pool list", "pool create nanoflake", "pool create nanoflake --name twin"}, true,
	},
	"the pool's record damaged": {
		func(t *testing.T, dir string) { check(t, overwrite(ownRecord(dir))) },
		[]string{"new nanoflake", "pool show nanoflake", "pool doctor", "pool list", "pool create nanoflake"}, true,
	},
	"an interrupted rescue": {
		func(t *testing.T, dir string) {
			store, err := filelease.Open(dir)
			check(t, err)
			defer store.Close()
			if _, err := lease.Rescue(t.Context(), interrupted{store}, "nanoflake", lease.RescueConfig{}); err == nil {
				t.Fatal("the rescue was not interrupted")
			}
		},
		[]string{"new nanoflake", "pool show nanoflake", "pool doctor"}, true,
	},
	"a copy": {
		func(t *testing.T, dir string) { check(t, os.Remove(filepath.Join(dir, ".place"))) },
		[]string{"new nanoflake", "pool show nanoflake", "pool list", "pool doctor", "pool rescue nanoflake --yes"}, true,
	},
	"a damaged .place": {
		func(t *testing.T, dir string) { check(t, overwrite(filepath.Join(dir, ".place"))) },
		[]string{"new nanoflake", "pool doctor"}, true,
	},
	"no such pool": {
		func(t *testing.T, dir string) {},
		[]string{"pool show nanoflakes", "new nanoflake --pool nanoflakes", "pool doctor nanoflakes", "pool rescue nanoflakes --yes", "pool rescue nanoflakes --yes --format nanoflake"}, false,
	},
	"no directory": {
		func(t *testing.T, dir string) { check(t, os.RemoveAll(dir)) },
		[]string{"pool show nanoflake", "new nanoflake --pool mine"}, false, // the pool that it made would do
	},
	"other IDs": {
		func(t *testing.T, dir string) {},
		[]string{"new nanoflake --pool nanoflake --epoch 2020-01-01", "new sno --pool nanoflake", "pool rescue nanoflake --yes --format sno"}, false,
	},
	"no free worker": {
		func(t *testing.T, dir string) {
			for range 2 {
				g, err := snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{ClockBits: 40, MachineBits: 1}})
				check(t, err)
				l, err := startIn(t.Context(), dir, g, lease.Config{Create: true, Timeout: time.Minute})
				check(t, err)
				t.Cleanup(func() { l.Close() })
			}
		},
		[]string{"new snowflakesi --machine-bits 1 --wait 0"}, false,
	},
}

// TestPrintedCommandsNameTheStore provokes errors of a named store, and types each command in the errors.
// Each command is about the named store. No command changes the default store, which has the same pools.
func TestPrintedCommandsNameTheStore(t *testing.T) {
	t.Parallel()
	turn.Take(t)
	for name, test := range spoilings {
		for _, flag := range []string{"--state", "--store"} {
			t.Run(name+", "+flag, func(t *testing.T) {
				t.Parallel()
				for _, line := range test.says {
					test.typeCommands(t, flag, line)
				}
			})
		}
	}
}

// typeCommands spoils a store, runs a command with the flag for the store, and types the commands in its errors.
func (test spoiling) typeCommands(t *testing.T, flag, line string) {
	t.Helper()
	exists := func(err error) {
		t.Helper()
		if !errors.Is(err, fs.ErrNotExist) {
			check(t, err)
		}
	}
	home := t.TempDir()
	dir := filepath.Join(t.TempDir(), "it's the state")
	named := dir
	if flag == "--store" {
		dir = filepath.Join(t.TempDir(), "state")
		named = "file://" + dir
	}
	firn := func(args ...string) (string, int) {
		cmd := exec.Command("firn", args...)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home)
		text, err := output(t, cmd)
		return text, exitCode(err)
	}
	for _, args := range [][]string{{"new", "nanoflake"}, {"new", "nanoflake", flag, named}} {
		if text, code := firn(args...); code != 0 {
			t.Fatal(text)
		}
	}
	test.spoil(t, dir)
	text, code := firn(append(strings.Fields(line), flag, named)...)
	if code == 0 {
		t.Errorf("firn %s: no error", line)
	}
	if strings.Contains(text, "HOME") {
		t.Errorf("firn %s advises another default directory: %s", line, text)
	}
	before, changed := contents(exists, home), contents(exists, dir)
	var commands []string
	for _, found := range printed.FindAllStringSubmatch(text, -1) {
		if command := found[1]; !strings.Contains(command, "--help") && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	if len(commands) == 0 && !strings.HasPrefix(line, "pool rescue ") {
		t.Errorf("firn %s: no command in: %s", line, text)
	}
	for _, command := range commands {
		words := fmt.Sprintf("for w in %s; do printf '%%s\\n' \"$w\"; done", command)
		if said, err := exec.Command("sh", "-c", words).Output(); err != nil || !strings.Contains(string(said), "\n"+flag+"\n"+named+"\n") {
			t.Errorf("firn %s: %q does not name the store", line, command)
		}
		command = strings.NewReplacer(" FORMAT", " nanoflake").Replace(command)
		if strings.HasPrefix(command, "firn pool rescue") {
			command += " --yes --no-wait --skew 50ms --window 50ms"
		}
		cmd := exec.Command("sh", "-c", "exec "+command)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+home)
		said, err := output(t, cmd)
		if err != nil && test.mends {
			t.Errorf("firn %s: %s: %v\n%s", line, command, err, said)
		}
	}
	if after := contents(exists, home); before != after {
		t.Errorf("firn %s: the default store was changed by %q", line, commands)
	}
	if after := contents(exists, dir); test.mends && changed == after {
		t.Errorf("firn %s: the store was not changed by %q", line, commands)
	}
}

// TestUnusablePaths: no advice names another default directory where a named directory cannot be made.
func TestUnusablePaths(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/dev/null/x", "/dev/null", "/proc/none"} {
		for _, line := range []string{"new nanoflake", "pool show nanoflake", "pool create nanoflake", "pool doctor"} {
			for _, flag := range [][]string{{"--state", dir}, {"--store", "file://" + dir}} {
				stdout, stderr, code := firnRun(t, "", append(strings.Fields(line), flag...)...)
				if text := stdout + stderr; strings.Contains(text, "HOME") || code == 0 && line != "pool doctor" {
					t.Errorf("firn %s %s: exit code %d: %s", line, flag, code, text)
				}
			}
		}
	}
}

package filelease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/advice"
	"github.com/firn-id/firn/internal/testing/consultest"
	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/snowflakesi"
)

// unfollowed is advice that no fault of the tables meets, each with the reason.
var unfollowed = map[string]string{
	"use a store of another kind":               "Linux supports files",
	"let users share a directory that you name": "on Linux default stores exclude each other",
	"use a directory on a filesystem that has hard links, the same for all processes whose IDs have to differ": "a filesystem of Linux without hard links is refused before its first entry",
	"use a directory on a filesystem that has locks, the same for all processes whose IDs have to differ":      "the kernel has the locks of all local filesystems",
	"raise the system's limit on open files":                                 "other processes of the machine could open no files either",
	"use the version of this program that the other users of the store have": "there is no later version",
}

// TestAdvice follows the advice of the errors and the findings of a store. The tests of the errors of Windows are in
// sys_windows_test.go.
func TestAdvice(t *testing.T) {
	if err := onMachine(); err != nil {
		t.Skipf("the machine is not seen from here: %v", err)
	}
	if os.Getuid() != 0 {
		t.Skip("only root can run processes as several users")
	}
	if !inNamespaces(t, syscall.CLONE_NEWNS) {
		return
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skipf("the system does not permit mounts of the test's own: %v", err)
	}
	memory := testkit.Must(os.MkdirTemp("", "filelease")) // the table writes more files than a busy disk likes to sync
	t.Cleanup(func() { os.Remove(memory) })
	t.Setenv("TMPDIR", mount(t, "tmpfs", memory, "mode=0711"))
	texts := slices.DeleteFunc(sources.Texts(t, "."), func(s sources.Text) bool { return strings.HasPrefix(s.Where, "sys_windows.go:") })
	advice.Check(t, advice.Test{Tables: [][]advice.Fault{addresses(t), defaults(t), claims(t), findings(t), places(t), entries(t), directories(t), calls(t)},
		Texts: texts, Least: 40, Unfollowed: unfollowed})
}

// fails is a fault whose error a call returns.
func fails(name string, call func(t *testing.T) error, ways advice.Ways) advice.Fault {
	return advice.Fault{Name: name, Meet: func(t *testing.T) string {
		text := advice.Text(t, call(t))
		if strings.Contains(text, ": : ") {
			t.Errorf("a part of the error is empty: %s", text)
		}
		return text
	}, Ways: ways}
}

// lend leases a worker of the pool of package minter for an ID.
func lend(t *testing.T, s driver.Store) error { t.Helper(); return lendAt(t, s, time.Now) }

// lendAt is lend at another time.
func lendAt(t *testing.T, s driver.Store, clock func() time.Time) error {
	t.Helper()
	g, l, err := minter.StartAt(t.Context(), s, clock, lease.Config{Wait: wait.Patience, Timeout: wait.Patience}) // the disk may be slow
	if err != nil {
		return err
	}
	_, err = g.Next()
	return errors.Join(err, l.Close())
}

// afterFloor is a time from which a rescued pool lends workers: the pool has leases with the usual window.
func afterFloor() time.Time { return time.Now().Add(2 * lease.DefaultWindow) }

// rescue rescues pools, as firn pool rescue does.
func rescue(t *testing.T, s driver.Store, create bool, pools ...string) error {
	t.Helper()
	spec := testkit.Must(new(minter.Generator).Pool())
	for _, name := range pools {
		c := lease.RescueConfig{Window: time.Millisecond, Skew: time.Millisecond, Layouts: []grant.Layout{spec.Layout}, Create: create}
		if _, err := lease.Rescue(t.Context(), s, name, c); err != nil {
			return err
		}
	}
	return nil
}

// again rescues the pool of package minter, and leases a worker. With create, nothing is left of the pool.
func again(t *testing.T, s driver.Store, create bool) error {
	t.Helper()
	if err := rescue(t, s, create, minter.Pool); err != nil {
		return err
	}
	return lendAt(t, s, afterFloor)
}

// pool makes a store with a pool, of which a worker was used.
func pool(t *testing.T, dir string) *Store {
	t.Helper()
	s := testkit.Must(OpenCopy(dir))
	testkit.OK(t, errors.Join(minter.Create(t.Context(), s), lend(t, s)))
	return s
}

// lends opens a store, and leases a worker.
func lends(t *testing.T, dir string, options ...Option) error {
	t.Helper()
	s, err := Open(dir, options...)
	if err != nil {
		return err
	}
	return lend(t, s)
}

// lendsIn is a way to a directory with a pool.
func lendsIn(dir string) func(*testing.T) error {
	return func(t *testing.T) error { return lends(t, dir, Existing) }
}

// elsewhere is a way to a new directory.
func elsewhere(t *testing.T) error {
	dir := filepath.Join(t.TempDir(), "ids")
	pool(t, dir)
	return lends(t, dir)
}

// machines is a way to a store that machines share.
func machines(t *testing.T) error {
	s, err := consullease.Open(t.Context(), "consul://"+consultest.New().Start(t).Listener.Addr().String()+"/p")
	if err != nil {
		return err
	}
	return errors.Join(minter.Create(t.Context(), s), lend(t, s))
}

func addresses(t *testing.T) []advice.Fault {
	base := t.TempDir()
	dir, question, fragment := filepath.Join(base, "ids"), filepath.Join(base, "i?ds"), filepath.Join(base, "i#ds")
	for _, d := range []string{dir, question, fragment} {
		pool(t, d)
	}
	visit := func(addr string) func(*testing.T) error {
		return func(t *testing.T) error {
			s, err := lease.OpenStore(t.Context(), addr)
			if err != nil {
				return err
			}
			return lend(t, s)
		}
	}
	rights := func(addr string) func(*testing.T) error {
		return func(*testing.T) error { return testkit.Err(Rights(addr, "ids")) }
	}
	named := ""
	return []advice.Fault{
		fails("a relative path", visit("file://"), advice.Ways{"want an absolute path after it": visit("file://" + dir), "want file:///DIRECTORY": visit("file://" + dir)}),
		fails("a question mark", visit("file://"+question), advice.Ways{"write %3F for a ?": visit("file://" + strings.Replace(question, "?", "%3F", 1)),
			"want file:///DIRECTORY": visit("file://" + dir)}),
		fails("a fragment", visit("file://"+fragment), advice.Ways{"write %23 for a #": visit("file://" + strings.Replace(fragment, "#", "%23", 1)),
			"want file:///DIRECTORY": visit("file://" + dir)}),
		fails("the rights of another store", rights("etcd://localhost/ids"), advice.Ways{"want file://, as in file:///": rights("file://" + dir), "want file:///DIRECTORY": rights("file://" + dir)}),
		fails("an address of another store", func(t *testing.T) error { return lends(t, "consul://localhost/p") },
			advice.Ways{"open it by lease.OpenStore": machines, "or name a directory": lendsIn(dir)}),
		{Name: "an address", Meet: func(t *testing.T) string {
			text := advice.Text(t, lends(t, "file://"+dir))
			_, named, _ = strings.Cut(text, "name the directory ")
			named, _, _ = strings.Cut(named, ";")
			return text
		}, Ways: advice.Ways{"name the directory": func(t *testing.T) error { return lends(t, named) }, "lease.OpenStore opens the store of an address": visit("file://" + dir)}},
		fails("no directory", func(t *testing.T) error { return lends(t, "") }, advice.Ways{"name the store's directory by an absolute path": lendsIn(dir)}),
		fails("a working directory that is gone", func(t *testing.T) error {
			gone := t.TempDir()
			t.Chdir(gone)
			testkit.OK(t, os.Remove(gone))
			return lends(t, "ids")
		}, advice.Ways{"name the store's directory by an absolute path": lendsIn(dir)}),
	}
}

// mount mounts a filesystem without a device until the end of the test.
func mount(t *testing.T, kind, dir, options string) string {
	t.Helper()
	testkit.OK(t, os.MkdirAll(dir, 0o700))
	if err := syscall.Mount(kind, dir, kind, 0, options); err != nil {
		t.Skipf("the system does not permit to mount a filesystem of the kind %s: %v", kind, err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// lasting is a way to a directory on a disk, which two programs share.
func lasting(t *testing.T) error {
	dir := filepath.Join(t.TempDir(), "ids")
	first, err := open(dir, named, anyDisk)
	if err != nil {
		return err
	}
	if err := minter.Create(t.Context(), first); err != nil {
		return err
	}
	_, l, err := minter.Start(t.Context(), first, lease.Config{Timeout: wait.Patience})
	if err != nil {
		return err
	}
	second, err := open(dir, named, anyDisk)
	if err == nil {
		err = lend(t, second)
	}
	return errors.Join(err, without(t, second, loses), l.Close())
}

// What findings say.
const (
	loses   = "whose entries are lost"
	hidden  = "would not be noticed"
	another = "another store of this machine"
	toAll   = "every user can take its entries away"
)

// without returns an error if a store has a finding. The other tests of the machine may use the same workers, so there can be
// other findings.
func without(t *testing.T, s *Store, says string) error {
	return storetest.Mended(t.Context(), s, says)
}

// inDirectory are the ways of a default store that cannot be used.
func inDirectory() advice.Ways {
	return advice.Ways{"use a store that machines share": machines, "or name a directory that lasts": lasting,
		"or give each generator a worker of its own by hand": func(t *testing.T) error {
			g, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: 3}, MachineID: 5})
			if err != nil {
				return err
			}
			return testkit.Err(g.Next(t.Context()))
		}}
}

func defaults(t *testing.T) []advice.Fault {
	tmpfs := mount(t, "tmpfs", t.TempDir(), "")
	// ways sets the variables of the environment.
	ways := func(before string) advice.Ways {
		return advice.Ways{
			before + "set HOME or XDG_STATE_HOME": func(t *testing.T) error {
				for _, name := range []string{"HOME", "XDG_STATE_HOME"} {
					t.Setenv("HOME", "")
					t.Setenv("XDG_STATE_HOME", "")
					t.Setenv(name, t.TempDir())
					s, err := open(testkit.Must(DefaultDir()), byDefault, anyDisk)
					if err != nil {
						return err
					}
					if err := errors.Join(minter.Create(t.Context(), s), lend(t, s)); err != nil {
						return err
					}
				}
				return nil
			},
			"or name the store's directory, the same for all processes whose IDs have to differ": lasting,
		}
	}
	return []advice.Fault{
		fails("no home directory", func(t *testing.T) error {
			t.Setenv("HOME", "")
			t.Setenv("XDG_STATE_HOME", "")
			return testkit.Err(OpenDefault())
		}, ways("")),
		fails("a home directory in which nothing can be made", func(t *testing.T) error {
			t.Setenv("XDG_STATE_HOME", "/proc/home")
			return testkit.Err(OpenDefault())
		}, ways("no directory can be made there: ")),
		fails("a place in which nothing can be made", func(t *testing.T) error { return lends(t, "/proc/ids") },
			advice.Ways{"name the store's directory, the same for all processes whose IDs have to differ": lasting}),
		fails("a link to a place in which nothing can be made", func(t *testing.T) error {
			link := filepath.Join(t.TempDir(), "link")
			testkit.OK(t, os.Symlink("/proc", link))
			return lends(t, filepath.Join(link, "ids"))
		}, advice.Ways{"name the store's directory, the same for all processes whose IDs have to differ": lasting}),
		fails("a home directory that is lost", func(t *testing.T) error {
			t.Setenv("XDG_STATE_HOME", tmpfs)
			return testkit.Err(OpenDefault())
		}, inDirectory()),
		fails("a container", func(t *testing.T) error {
			h := anyDisk
			h.onMachine = func() error { return testkit.Err(openNamespace(pidNamespace, 1)) }
			return testkit.Err(open(t.TempDir(), byDefault, h))
		}, inDirectory()),
		fails("a filesystem that is not known", func(t *testing.T) error { return lends(t, "/proc/self/fdinfo") },
			advice.Ways{"use a directory on a local disk, the same for all processes whose IDs have to differ": lasting}),
	}
}

// keep starts a process that has a file of this process, and closes the file here. The process does nothing, and ends by
// the function end, or with the test.
func keep(t *testing.T, f *os.File) (end func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "cat")
	in := testkit.Must(cmd.StdinPipe())
	cmd.ExtraFiles = []*os.File{f}
	testkit.OK(t, errors.Join(cmd.Start(), f.Close()))
	end = func() { in.Close(); cmd.Process.Kill(); cmd.Wait() }
	t.Cleanup(end)
	return end
}

// hide starts a process with a lock that hides the claims of a resource.
func hide(t *testing.T, resource string) (end func()) {
	t.Helper()
	kernel := testkit.Must(openKernel())
	all := syscall.Flock_t{Type: syscall.F_RDLCK, Start: int64(shorten("machine\x00"+resource)>>1) << 32, Len: 1 << 32}
	testkit.OK(t, lock(kernel, setLock, &all))
	return keep(t, kernel)
}

// finding returns the text of the only finding of a store, which has had no lease.
func finding(t *testing.T, s *Store) string {
	t.Helper()
	found := testkit.Must(s.Inspect(t.Context()))
	if len(found) != 1 {
		t.Fatalf("Inspect = %+v", found)
	}
	return found[0].Text + ": " + found[0].Advice
}

func claims(t *testing.T) []advice.Fault {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	var end func()
	byHome := testkit.Must(open(at("home"), byDefault, anyDisk))
	var text string
	ofDefault := inDirectory()
	ofDefault["end that process"] = func(t *testing.T) error {
		end()
		return without(t, byHome, hidden)
	}
	return []advice.Fault{
		fails("a lock that hides claims from a default store", func(t *testing.T) error {
			end = hide(t, "inspect "+testkit.Must(byHome.identity()))
			return testkit.Err(byHome.Inspect(t.Context()))
		}, ofDefault),
		{Name: "a lock that hides claims", Meet: func(t *testing.T) string {
			s := mustOpen(t, at("named"), anyDisk)
			end = hide(t, "inspect "+testkit.Must(s.identity()))
			text = finding(t, s)
			return text
		}, Ways: advice.Ways{"end that process": func(t *testing.T) error {
			if !strings.Contains(text, " (cat)") {
				t.Errorf("%s does not name the process", text)
			}
			end()
			return without(t, mustOpen(t, at("named"), anyDisk), hidden)
		}}},
		{Name: "two stores", Meet: func(t *testing.T) string {
			first, second := mustOpen(t, at("first"), anyDisk), mustOpen(t, at("second"), anyDisk)
			t.Cleanup(testkit.Must(first.Exclude(t.Name(), "pool")))
			release, err := second.Exclude(t.Name(), "pool")
			wantError(t, err, driver.ErrConflict)
			release()
			return finding(t, second)
		}, Ways: advice.Ways{"let both use one directory": func(t *testing.T) error {
			second := mustOpen(t, at("first"), anyDisk)
			release, err := second.Exclude(t.Name(), "pool")
			if err == nil {
				release()
			}
			return errors.Join(err, without(t, second, another))
		}}},
	}
}

func findings(t *testing.T) []advice.Fault {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	// lost is a fault of a directory that loses entries.
	lost := func(name string, h hooks, dir func(t *testing.T) string, to string) advice.Fault {
		return advice.Fault{Name: name, Meet: func(t *testing.T) string {
			s := mustOpen(t, dir(t), h)
			testkit.OK(t, errors.Join(minter.Create(t.Context(), s), lend(t, s), s.Close()))
			return finding(t, mustOpen(t, s.dir, h))
		}, Ways: advice.Ways{to + ", stop all processes that use this one, and rescue its pools there before any of them is started again": func(t *testing.T) error {
			s := mustOpen(t, filepath.Join(t.TempDir(), "ids"), anyDisk)
			return errors.Join(again(t, s, true), without(t, s, loses))
		}}}
	}
	onDisk, onVolume := "to go on in a directory on a disk", "to go on in a directory on a volume that all containers of this machine share"
	open := at("open to all")
	return []advice.Fault{
		lost("a filesystem in memory", plain, func(t *testing.T) string { return mount(t, "tmpfs", t.TempDir(), "mode=0700") }, onDisk),
		lost("the filesystem of a container", plain, func(t *testing.T) string {
			layers := mount(t, "tmpfs", t.TempDir(), "")
			for _, name := range []string{"lower", "upper", "work"} {
				testkit.OK(t, os.Mkdir(filepath.Join(layers, name), 0o700))
			}
			return mount(t, "overlay", t.TempDir(), strings.ReplaceAll("lowerdir=DIR/lower,upperdir=DIR/upper,workdir=DIR/work", "DIR", layers))
		}, onVolume),
		lost("the volume of a pod", anyDisk, func(t *testing.T) string {
			volume := at("volumes/kubernetes.io~empty-dir/state")
			testkit.OK(t, os.MkdirAll(volume, 0o700))
			return bind(t, volume, t.TempDir())
		}, onVolume),
		{Name: "a directory that is open to all", Meet: func(t *testing.T) string {
			testkit.OK(t, errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.Chmod(base, 0o711), os.Chmod(filepath.Dir(base), 0o711)))
			s := mustOpen(t, open, anyDisk)
			testkit.OK(t, errors.Join(minter.Create(t.Context(), s), lend(t, s)))
			if text := takeAway(t, s); text != "" {
				t.Errorf("the finding is wrong: %s", text)
			}
			return finding(t, mustOpen(t, open, anyDisk))
		}, Ways: advice.Ways{"chmod -R o-w": func(t *testing.T) error {
			s := mustOpen(t, open, anyDisk)
			if out, err := exec.Command("sh", "-c", testkit.Must(s.Inspect(t.Context()))[0].Advice).CombinedOutput(); err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			s = mustOpen(t, open, anyDisk)
			if text := takeAway(t, s); text == "" {
				t.Error("another user has taken an entry away")
			}
			return errors.Join(lend(t, s), without(t, s, toAll))
		}}},
	}
}

// takeAway lets another user take a pool's entry away and put it back, and returns why the user cannot.
func takeAway(t *testing.T, s *Store) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", `mv "$0" "$0-" && mv "$0-" "$0"`, anEntry(t, s))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: eve.id, Gid: eve.id}}
	if out, err := cmd.CombinedOutput(); err != nil {
		return string(out) + err.Error()
	}
	return ""
}

// anEntry returns the path of the entry of a worker.
func anEntry(t *testing.T, s *Store) string {
	t.Helper()
	keys := testkit.Must(s.Keys(t.Context(), minter.Pool+"/workers/"))
	if len(keys) == 0 {
		t.Fatal("the pool has no workers")
	}
	return s.file(keys[0])
}

// bind mounts a file or a directory at another path until the end of the test.
func bind(t *testing.T, from, at string) string {
	t.Helper()
	if err := syscall.Mount(from, at, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("the system does not permit to mount %s: %v", from, err)
	}
	t.Cleanup(func() { syscall.Unmount(at, syscall.MNT_DETACH) })
	return at
}

// adopt rescues all pools of a copy, adopts the copy, and leases a worker.
func adopt(t *testing.T, dir string) error {
	t.Helper()
	if s, err := Open(dir); err == nil {
		return fmt.Errorf("%v is no copy", s)
	}
	s, err := OpenCopy(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(rescue(t, s, false, testkit.Must(lease.Names(t.Context(), s))...), s.Adopt()); err != nil {
		return err
	}
	adopted, err := Open(dir, Existing)
	if err != nil {
		return err
	}
	return lendAt(t, adopted, afterFloor)
}

func places(t *testing.T) []advice.Fault {
	const each = "(lease.Rescue each, between OpenCopy and Adopt)"
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	run := func(t *testing.T, command string) {
		t.Helper()
		if out, err := exec.Command("sh", "-c", `cd "$0" && `+command, base).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	adopts := func(name string) func(*testing.T) error {
		return func(t *testing.T) error { return adopt(t, at(name)) }
	}
	const machine = "/etc/machine-id"
	other := at("machine-id")
	testkit.OK(t, os.WriteFile(other, []byte(strings.Repeat("0123456789abcdef", 2)+"\n"), 0o600))
	damage := func(content string) func(*testing.T) error {
		return func(t *testing.T) error {
			pool(t, at("damaged"))
			testkit.OK(t, os.WriteFile(filepath.Join(at("damaged"), placeFile), []byte(content), 0o600))
			return lends(t, at("damaged"))
		}
	}
	return []advice.Fault{
		fails("another machine", func(t *testing.T) error {
			pool(t, at("here"))
			bind(t, other, machine)
			return lends(t, at("here"))
		}, advice.Ways{
			"give this root the machine's /etc/machine-id": func(t *testing.T) error {
				testkit.OK(t, syscall.Unmount(machine, 0))
				return lends(t, at("here"))
			},
			"otherwise use the original":      lendsIn(at("here")), // on its machine
			"use a store that machines share": machines,
			"rescue all pools of the copy " + each: func(t *testing.T) error {
				bind(t, other, machine)
				return adopt(t, at("here"))
			},
		}),
		fails("a copy", func(t *testing.T) error {
			pool(t, at("original"))
			run(t, "cp -a original copy")
			return lends(t, at("copy"))
		}, advice.Ways{
			"use the original, which may be in use: share its directory": lendsIn(at("original")),
			"or use a store that machines share":                         machines,
			"rescue all pools of the copy " + each:                       adopts("copy"),
		}),
		fails("a copy of a part", func(t *testing.T) error {
			pool(t, at("whole"))
			run(t, "mkdir part && cp -a whole/* part")
			return lends(t, at("part"))
		}, advice.Ways{"stop all processes that use the directory, and rescue all its pools " + each: adopts("part"), "otherwise use the original": lendsIn(at("whole"))}),
		fails("a damaged place", damage("{"), advice.Ways{"stop all processes that use the directory, and rescue all its pools: that writes the file again " + each: adopts("damaged")}),
		fails("a damaged place of a copy", func(t *testing.T) error {
			pool(t, at("restored"))
			testkit.OK(t, os.WriteFile(filepath.Join(at("restored"), placeFile), []byte("{"), 0o600))
			return lend(t, testkit.Must(OpenCopy(at("restored"))))
		}, advice.Ways{"stop all processes that use the directory, and rescue all its pools: that writes the file again " + each: adopts("restored")}),
		fails("a place of an early version", func(t *testing.T) error {
			pool(t, at("early"))
			testkit.OK(t, os.WriteFile(filepath.Join(at("early"), placeFile), []byte(`{"v":1,"inode":7}`), 0o600))
			return lends(t, at("early"))
		}, advice.Ways{"use another directory, which no earlier version has used": elsewhere}),
	}
}

func entries(t *testing.T) []advice.Fault {
	base := t.TempDir()
	list := func(t *testing.T, dir string) error {
		return testkit.Err(testkit.Must(Open(dir)).List(t.Context(), ""))
	}
	// inPlace is a fault of what is in the place of an entry. away is where the entry is then.
	inPlace := func(name string, folder bool, change func(path, away string) error, says string, way func(t *testing.T, s *Store, path, away string) error) advice.Fault {
		dir := filepath.Join(base, name)
		away := dir + "-away"
		var path string
		return fails(name, func(t *testing.T) error {
			if path = anEntry(t, pool(t, dir)); folder {
				path = filepath.Dir(path)
			}
			testkit.OK(t, errors.Join(os.Rename(path, away), change(path, away)))
			return list(t, dir)
		}, advice.Ways{says: func(t *testing.T) error {
			return errors.Join(way(t, testkit.Must(Open(dir)), path, away), list(t, dir), lends(t, dir, Existing))
		}})
	}
	link := func(path, away string) error { return os.Symlink(away, path) }
	const target, itself = "put the target of the link there", "put the file or the directory itself there"
	putTarget := func(_ *testing.T, _ *Store, path, away string) error {
		return errors.Join(os.Remove(path), os.Rename(away, path))
	}
	const move = "move it away; then rescue the pool (lease.Rescue), which makes the entry again"
	moveAway := func(t *testing.T, s *Store, path, away string) error {
		return errors.Join(os.Rename(path, away+"-too"), again(t, s, false))
	}
	return []advice.Fault{
		inPlace("a link for an entry", false, link, itself, putTarget),
		inPlace("a link for a folder", true, link, target, putTarget),
		inPlace("a folder for an entry", false, func(path, _ string) error { return os.Mkdir(path, 0o700) }, move, moveAway),
		inPlace("a pipe for an entry", false, func(path, _ string) error { return mkfifo(path) }, move, moveAway),
		inPlace("a socket for an entry", false, func(path, _ string) error { return syscall.Mknod(path, syscall.S_IFSOCK|0o600, 0) }, move, moveAway),
		inPlace("a device for an entry", false, func(path, _ string) error { return syscall.Mknod(path, syscall.S_IFCHR|0o600, 0xffff) }, move, moveAway),
		inPlace("a damaged entry", false, func(path, _ string) error { return os.WriteFile(path, []byte("x"), 0o600) },
			"rescue the pool (lease.Rescue), which makes the entry again", func(t *testing.T, s *Store, _, _ string) error { return again(t, s, false) }),
	}
}

func directories(t *testing.T) []advice.Fault {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	pool(t, at("ids"))
	creates := func(create func(*testing.T, *Store) error) func(*testing.T) error {
		return func(t *testing.T) error {
			missing := filepath.Join(t.TempDir(), "ids")
			wantAdvice(t, lends(t, missing, Existing), ErrNoStore)
			s, err := Open(missing)
			if err != nil {
				return err
			}
			return errors.Join(create(t, s), lends(t, missing, Existing))
		}
	}
	created := creates(func(t *testing.T, s *Store) error { return minter.Create(t.Context(), s) })
	rescued := creates(func(t *testing.T, s *Store) error { return again(t, s, true) })
	// noStore is a fault of a directory without a store.
	noStore := func(name, dir string, mend func(t *testing.T) string) advice.Fault {
		return fails(name, lendsIn(dir), advice.Ways{
			"see that the path is right and its filesystem mounted":                      func(t *testing.T) error { return lends(t, mend(t), Existing) },
			"create one once (lease.Create)":                                             created,
			"rescue each instead of creating it (lease.Rescue, with Layouts and Create)": rescued,
		})
	}
	testkit.OK(t, os.Mkdir(at("point"), 0o700))

	var s *Store
	gone := func(name string, take func() error) advice.Fault {
		return fails(name, func(t *testing.T) error {
			s = pool(t, at(name))
			testkit.OK(t, errors.Join(os.Rename(at(name), at(name)+"-away"), take()))
			return lend(t, s)
		}, advice.Ways{
			"put back the directory that was there": func(t *testing.T) error {
				return errors.Join(os.RemoveAll(at(name)), os.Rename(at(name)+"-away", at(name)), lend(t, s))
			},
			"stop all processes that use its pools, and rescue the pools before any of them is started again": func(t *testing.T) error {
				testkit.OK(t, errors.Join(os.Rename(at(name), at(name)+"-away"), take()))
				if err := lend(t, s); err == nil {
					t.Error("the directory is there")
				}
				testkit.OK(t, s.Close())
				s, err := Open(at(name))
				if err != nil {
					return err
				}
				return again(t, s, true)
			},
		})
	}
	long := strings.Repeat("/"+strings.Repeat("x", driver.MaxName), 50)
	inTheWay := at("file")
	return []advice.Fault{
		noStore("a wrong path", at("idz"), func(*testing.T) string { return at("ids") }),
		noStore("a filesystem that is not mounted", at("point"), func(t *testing.T) string { return bind(t, at("ids"), at("point")) }),
		gone("a directory that is gone", func() error { return nil }),
		gone("a directory that was replaced", func() error { return os.Mkdir(at("a directory that was replaced"), 0o700) }),
		fails("a file in the place of a directory", func(t *testing.T) error {
			testkit.OK(t, os.WriteFile(inTheWay, nil, 0o600))
			return lends(t, filepath.Join(inTheWay, "ids"))
		}, advice.Ways{
			"or name the store's directory, the same for all processes whose IDs have to differ": lasting,
			"a file is where a folder should be: move it away": func(t *testing.T) error {
				testkit.OK(t, os.Rename(inTheWay, inTheWay+"-away"))
				pool(t, filepath.Join(inTheWay, "ids"))
				return lends(t, filepath.Join(inTheWay, "ids"))
			},
		}),
		fails("a link to itself", func(t *testing.T) error {
			testkit.OK(t, os.Symlink("circle", at("circle")))
			return lends(t, at("circle"))
		}, advice.Ways{"put the file or the directory itself there": func(t *testing.T) error {
			pool(t, at("of the circle"))
			testkit.OK(t, errors.Join(os.Remove(at("circle")), os.Rename(at("of the circle"), at("circle"))))
			return lends(t, at("circle"), Existing)
		}}),
		fails("a link to nothing", func(t *testing.T) error {
			testkit.OK(t, os.Symlink(at("disk/store"), at("link")))
			return lends(t, at("link/ids"))
		}, advice.Ways{
			"see that the filesystem behind the link is mounted": func(t *testing.T) error {
				testkit.OK(t, os.MkdirAll(at("disk"), 0o700))
				mount(t, "tmpfs", at("disk"), "mode=0700")
				pool(t, at("disk/store/ids"))
				err := lends(t, at("link/ids"), Existing)
				return errors.Join(err, syscall.Unmount(at("disk"), syscall.MNT_DETACH))
			},
			"if it is, make the directory that the link leads to": func(t *testing.T) error {
				if err := lends(t, at("link/ids")); err == nil {
					t.Error("the link leads to a directory")
				}
				testkit.OK(t, os.MkdirAll(at("disk/store"), 0o700))
				pool(t, at("link/ids"))
				return lends(t, at("link/ids"), Existing)
			},
		}),
		fails("a NUL", func(t *testing.T) error { return lends(t, at("ids")+"\x00") }, advice.Ways{"leave out the character": lendsIn(at("ids"))}),
		fails("a long path", func(t *testing.T) error { return lends(t, base+long) },
			advice.Ways{"choose a shorter name": func(t *testing.T) error {
				pool(t, base+long[:driver.MaxName])
				return lends(t, base+long[:driver.MaxName])
			}}),
	}
}

func calls(t *testing.T) []advice.Fault {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, name) }
	big := make([]byte, driver.MaxValue)
	put := func(t *testing.T, s *Store) error {
		t.Helper()
		e, err := s.Get(t.Context(), "a")
		if err != nil && !errors.Is(err, driver.ErrNotFound) {
			return err
		}
		return testkit.Err(s.Put(t.Context(), "a", big, e.Revision))
	}

	// A small filesystem.
	small := mount(t, "tmpfs", at("small"), "size=64k")
	remount := func(flags uintptr, options string) {
		t.Helper()
		testkit.OK(t, syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT|flags, options))
	}
	onSmall := pool(t, small)
	var byHome *Store
	fill := func() { // until there is no space
		f := testkit.Must(os.Create(filepath.Join(small, "filler")))
		defer f.Close()
		var err error
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		testkit.Is(t, err, syscall.ENOSPC, "a full filesystem")
	}

	// A directory of a group.
	group := filepath.Join(publicDir(t), "ids")
	testkit.OK(t, errors.Join(os.Mkdir(group, 0o700), os.Chown(group, int(alice.id), ourGroup), os.Chmod(group, 0o770|fs.ModeSetgid)))
	output := func(cmd *exec.Cmd) error {
		out, err := cmd.CombinedOutput()
		if err != nil {
			return errors.New(strings.TrimSpace(string(out)))
		}
		return nil
	}
	by := func(u user) func(*testing.T) error {
		return func(t *testing.T) error { return output(asUser(t, u, group, "1")) }
	}

	// Limits of the shell.
	limited := func(limit string) func(*testing.T) error {
		return func(t *testing.T) error {
			cmd := exec.Command("sh", "-c", "trap '' XFSZ; "+limit+`; exec "$0"`, testkit.Must(os.Executable()))
			cmd.Env = append(os.Environ(), childEnv+"="+at("limited")+"\n1")
			return output(cmd)
		}
	}

	var end func()
	stopped := pool(t, at("stopped"))
	var unsynced, unread error // of a disk with errors
	disk := plain
	disk.sync = func(f *os.File) error { return cmp.Or(unsynced, f.Sync()) }
	disk.filesystem = func(path string) (filesystem, error) {
		on, err := statfs(path)
		return on, cmp.Or(unread, err)
	}
	onDisk := pool(t, at("disk")).dir
	const log = "look into the system's log"
	return []advice.Fault{
		fails("a full filesystem", func(t *testing.T) error { fill(); return put(t, onSmall) }, advice.Ways{
			"free some space there": func(t *testing.T) error {
				testkit.OK(t, os.Remove(filepath.Join(small, "filler")))
				return errors.Join(put(t, onSmall), lend(t, onSmall))
			},
			"or raise the quota": func(t *testing.T) error {
				fill()
				if err := put(t, onSmall); err == nil {
					t.Error("the filesystem is not full")
				}
				remount(0, "size=1m")
				return errors.Join(put(t, onSmall), lend(t, onSmall))
			},
		}),
		fails("a filesystem for reading", func(t *testing.T) error { remount(syscall.MS_RDONLY, ""); return put(t, onSmall) },
			advice.Ways{"mount the filesystem for writing; if it has become read-only by itself, " + log: func(t *testing.T) error {
				remount(0, "")
				return errors.Join(put(t, onSmall), lend(t, onSmall))
			}}),
		fails("a filesystem for reading, with a default store", func(t *testing.T) error {
			byHome = testkit.Must(open(small, byDefault, anyDisk))
			remount(syscall.MS_RDONLY, "")
			return lend(t, byHome)
		}, advice.Ways{"mount the filesystem for writing; if it has become read-only by itself, " + log: func(t *testing.T) error {
			remount(0, "")
			return lend(t, byHome)
		}}),
		fails("a directory of other users", by(eve), advice.Ways{
			"run this as the user that owns the store's directory and all that is in it": by(alice),
			"or as a member of its group": by(bob),
			"if no other user works there, chown -R USER DIRECTORY gives it to the user": func(t *testing.T) error {
				testkit.OK(t, output(exec.Command("chown", "-R", fmt.Sprint(eve.id), group)))
				return by(eve)(t)
			},
		}),
		fails("a limit on the size of files", limited("ulimit -f 0"), advice.Ways{"raise the limit on the size of files (ulimit -f)": limited("ulimit -f 1000")}),
		fails("a limit on open files", func(t *testing.T) (err error) {
			for n := 4; err == nil || !strings.Contains(err.Error(), "limit on open"); n++ { // Go needs files of its own
				if err = limited(fmt.Sprintf("ulimit -n %d", n))(t); err == nil {
					return nil
				}
			}
			return err
		}, advice.Ways{"raise the limit on open files (ulimit -n)": limited("ulimit -n 100")}),
		fails("a process that is stopped", func(t *testing.T) error {
			rev := mustPut(t, stopped, "a", "", driver.None)
			f := testkit.Must(stopped.openEntry("a"))
			testkit.OK(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
			end = keep(t, f)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			return testkit.Err(stopped.Put(ctx, "a", big, rev))
		}, advice.Ways{"look for a process that is stopped or hangs, and end it": func(t *testing.T) error {
			end()
			return put(t, stopped)
		}}),
		fails("a disk that does not write", func(t *testing.T) error {
			s := mustOpen(t, onDisk, disk)
			unsynced = &fs.PathError{Op: "sync", Path: onDisk, Err: syscall.EIO}
			defer s.Close()
			return put(t, s)
		}, advice.Ways{log + ", see that the disk is sound, and start this program again": func(t *testing.T) error {
			unsynced = nil
			s := mustOpen(t, onDisk, disk)
			return errors.Join(put(t, s), lend(t, s))
		}}),
		fails("a disk that does not read", func(t *testing.T) error {
			unread = &fs.PathError{Op: "statfs", Path: onDisk, Err: syscall.EIO}
			return testkit.Err(open(onDisk, named, disk))
		}, advice.Ways{"look for errors of the disk in the system's log": func(t *testing.T) error {
			unread = nil
			return lend(t, mustOpen(t, onDisk, disk))
		}}),
	}
}

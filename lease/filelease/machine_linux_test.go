package filelease

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// inNamespaces runs the rest of a test in a child process with namespaces of its own, and reports
// whether the caller is the child.
func inNamespaces(t *testing.T, flags uintptr) bool {
	t.Helper()
	const newTime = 0x80 // CLONE_NEWTIME, which begins with the program
	id := func(host int) []syscall.SysProcIDMap { return []syscall.SysProcIDMap{{HostID: host, Size: 1}} }
	return inChild(t, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags &^ newTime, Unshareflags: flags & newTime}
		if flags&syscall.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = id(os.Getuid()), id(os.Getgid())
		}
	})
}

// enterRoot gives this process a directory for its root, with the kernel's files.
func enterRoot(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	err := os.MkdirAll(filepath.Join(root, "proc"), 0o755)
	if err == nil {
		err = syscall.Mount("/proc", filepath.Join(root, "proc"), "", syscall.MS_BIND|syscall.MS_REC, "")
	}
	if err == nil {
		err = syscall.Chroot(root)
	}
	if err == nil {
		err = os.Mkdir("/tmp", 0o700)
	}
	if err != nil {
		t.Skipf("the system does not permit another root: %v", err)
	}
	t.Setenv("TMPDIR", "/tmp")
}

const (
	newUser  = syscall.CLONE_NEWUSER
	newPID   = syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID
	newMount = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	newTime  = syscall.CLONE_NEWUSER | 0x80
	newNet   = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
)

// places are namespaces in which a process can run.
var places = []struct {
	name  string
	flags uintptr
	root  bool // another root directory
}{
	{"user", newUser, false},
	{"mounts", newMount, false},
	{"root", newMount, true},
	{"network", newNet, false},
	{"PIDs", newPID, false},
	{"container", newPID | newMount | newNet, true},
	{"time", newTime, false},
}

// TestNamespaces: a directory is used in each namespace. All processes of the kernel see claims, whatever
// their namespaces and roots are, so two copies of a directory exclude each other; but for namespaces of
// time, which show no claims.
func TestNamespaces(t *testing.T) {
	kernel, err := openKernel()
	if err == nil {
		kernel.Close()
	}
	shared := err == nil
	for _, c := range places {
		t.Run(c.name, func(t *testing.T) {
			resource := t.Name()
			if os.Getenv("FIRN_FILELEASE_IN_"+t.Name()) == "" {
				release := testkit.Must(twin(t, resource).Exclude(resource, "a"))
				defer release()
			}
			if !inNamespaces(t, c.flags) {
				return
			}
			if c.root {
				enterRoot(t)
			}
			release := testkit.Must(mustOpen(t, filepath.Join(t.TempDir(), "ids"), anyDisk).Exclude(resource, "a"))
			defer release()
			if c.flags == newTime || !shared {
				return
			}
			_, err := twin(t, resource).Exclude(resource, "a")
			wantError(t, err, driver.ErrConflict)
			if by, ok := errors.AsType[*driver.ExcludedError](err); !ok || !strings.Contains(by.Holder(), "rocess") {
				t.Errorf("Exclude = %v", err)
			}
		})
	}
}

// TestExcludeNamed: programs name two stores, and the names do not show what the directories are.
func TestExcludeNamed(t *testing.T) {
	same := anyDisk // a system that cannot tell a copy
	same.here = func(string) (place, error) { return place{Version: placeVersion, Inode: 1}, nil }
	elsewhere := func(below string) func(t *testing.T, dir string) (string, func() string) {
		return func(t *testing.T, dir string) (string, func() string) {
			testkit.OK(t, errors.Join(os.MkdirAll(dir+"/a"+below, 0o700), os.MkdirAll(dir+"/b"+below, 0o700)))
			symlink(t, dir+"/a", dir+"/link")
			return dir + "/link" + below, func() string {
				testkit.OK(t, os.Remove(dir+"/link"))
				symlink(t, dir+"/b", dir+"/link")
				return dir + "/link" + below
			}
		}
	}
	for _, c := range []struct {
		name  string
		hooks hooks
		free  bool // the second store can have what the first has
		at    func(t *testing.T, dir string) (first string, then func() (second string))
	}{
		{name: "two stores", hooks: anyDisk, free: true, at: func(t *testing.T, dir string) (string, func() string) {
			return dir + "/a", func() string { return dir + "/b" }
		}},
		{name: "two names", hooks: anyDisk, free: true, at: func(t *testing.T, dir string) (string, func() string) {
			testkit.OK(t, os.Mkdir(dir+"/a", 0o700))
			symlink(t, dir+"/a", dir+"/link")
			return dir + "/a", func() string { return dir + "/link" }
		}},
		{name: "renamed", hooks: anyDisk, free: true, at: func(t *testing.T, dir string) (string, func() string) {
			return dir + "/a", func() string { testkit.OK(t, os.Rename(dir+"/a", dir+"/b")); return dir + "/b" }
		}},
		{name: "replaced", hooks: anyDisk, at: func(t *testing.T, dir string) (string, func() string) {
			return dir + "/a", func() string { testkit.OK(t, os.Rename(dir+"/a", dir+"/b")); return dir + "/a" }
		}},
		{name: "a link that leads elsewhere", hooks: anyDisk, at: elsewhere("")},
		{name: "a link above that leads elsewhere", hooks: anyDisk, at: elsewhere("/ids")},
		{name: "a copy that nobody can tell", hooks: same, at: func(t *testing.T, dir string) (string, func() string) {
			return dir + "/a", func() string { testkit.OK(t, os.CopyFS(dir+"/b", os.DirFS(dir+"/a"))); return dir + "/b" }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			first, then := c.at(t, t.TempDir())
			a := mustOpen(t, first, c.hooks)
			mustPut(t, a, "x/y", "", driver.None)
			release, err := a.Exclude(t.Name(), "pool")
			testkit.OK(t, err)
			defer release()
			b := mustOpen(t, then(), c.hooks)
			got, err := b.Exclude(t.Name(), "pool")
			if got != nil {
				defer got()
			}
			if err != nil {
				wantError(t, err, driver.ErrConflict)
			}
			if (got != nil) != c.free || (err == nil) != c.free {
				t.Errorf("Exclude = %t, %v", got != nil, err)
			}
		})
	}
}

// TestForeignLock: any user can lock the object. A store then goes on with a finding that names the process.
func TestForeignLock(t *testing.T) {
	kernel, err := openKernel()
	if err != nil {
		t.Skipf("nothing is shared with the other processes of the kernel: %v", err)
	}
	defer kernel.Close()
	s := mustOpen(t, t.TempDir(), anyDisk)
	id := testkit.Must(s.identity())
	for _, resource := range []string{t.Name(), "inspect " + id} {
		all := syscall.Flock_t{Type: syscall.F_RDLCK, Start: int64(shorten("store "+id+"\x00"+resource)>>1) << 32, Len: math.MaxUint32 + 1} // as Exclude has it
		testkit.OK(t, lock(kernel, setLock, &all))
		release := testkit.Must(s.Exclude(resource, "a"))
		release()
		found, err := s.Inspect(t.Context())
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "a lock hides it") || !strings.Contains(found[0].Text, fmt.Sprintf("process %d (", os.Getpid())) {
			t.Errorf("Inspect = %+v, %v", found, err)
		}
		all.Type = syscall.F_UNLCK
		testkit.OK(t, lock(kernel, setLock, &all))
		if !free(t, s, t.Name(), "a") {
			t.Error("it is not free after the lock has gone")
		}
	}
}

// TestFilesWithoutPlace: entries that were copied without the place are refused, also by a process that has opened
// the directory before. Other files in the directory do not matter.
func TestFilesWithoutPlace(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	for _, other := range []string{"lost+found", "data", "data/more", "pool/workers"} {
		testkit.OK(t, os.MkdirAll(filepath.Join(dir, other), 0o700))
	}
	testkit.OK(t, os.WriteFile(filepath.Join(dir, "data", "file"), nil, 0o600))
	mustPut(t, mustOpen(t, dir, plain), "pool/workers/00001", "", driver.None)

	early := mustOpen(t, copied, plain)
	out, err := exec.Command("sh", "-c", `cp -a "$1"/* "$2"`, "sh", dir, copied).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wantError(t, testkit.Err(early.Exclude(t.Name(), "a")), driver.ErrUnsafe, driver.ErrCopied)
	wantError(t, testkit.Err(early.Put(t.Context(), "a/c", nil, driver.None)), driver.ErrUnsafe, driver.ErrCopied)
	wantError(t, testkit.Err(Open(copied)), driver.ErrUnsafe, driver.ErrCopied)
	s := testkit.Must(OpenCopy(copied))
	testkit.OK(t, s.Adopt())
	mustOpen(t, copied, plain)
}

// TestStoreWithin: the directory above a store becomes no store of its own, which the users of the other would
// not see, and is called no copy.
func TestStoreWithin(t *testing.T) {
	for _, name := range []string{"ids", "IDs of orders"} {
		dir := t.TempDir()
		inner := filepath.Join(dir, name)
		mustPut(t, mustOpen(t, inner, plain), "pool/workers/00001", "", driver.None)
		_, err := Open(dir)
		if wantError(t, err, driver.ErrUnsafe); errors.Is(err, driver.ErrCopied) || !strings.HasSuffix(err.Error(), inner) {
			t.Error(err)
		}
		mustOpen(t, inner, plain)
	}
}

// TestPlaceIsDurable: the place is on the disk before the first entry is.
func TestPlaceIsDurable(t *testing.T) {
	for _, key := range []string{"a", "a/b", "a/b/c"} {
		dir := t.TempDir()
		var steps []string
		h := plain
		h.note = func(op, path, to string) {
			switch path = filepath.Clean(path); {
			case op == "link" && to == filepath.Join(dir, placeFile):
				steps = append(steps, "place")
			case op == "link":
				steps = append(steps, "entry")
			case op == "sync" && path == dir:
				steps = append(steps, "sync")
			}
		}
		mustPut(t, mustOpen(t, dir, h), key, "", driver.None)
		if place, entry := slices.Index(steps, "place"), slices.Index(steps, "entry"); place != 0 || entry < 2 || !slices.Contains(steps[:entry], "sync") {
			t.Errorf("%s: %v", key, steps)
		}
	}
}

// TestSnapshot: a snapshot of Btrfs keeps the inodes and the births of directories. Open refuses the
// snapshot as a copy.
func TestSnapshot(t *testing.T) {
	for _, tool := range []string{"mkfs.btrfs", "btrfs", "mount"} {
		if _, err := exec.LookPath(tool); err != nil || os.Getuid() != 0 {
			t.Skipf("needs root and the tools of Btrfs: %v", err)
		}
	}
	if !inNamespaces(t, syscall.CLONE_NEWNS) {
		return
	}
	base := t.TempDir()
	image, disk := filepath.Join(base, "image"), filepath.Join(base, "disk")
	run := func(name string, args ...string) {
		t.Helper()
		if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Skipf("%s: %v: %s", name, err, out)
		}
	}
	testkit.OK(t, errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), os.Mkdir(disk, 0o700),
		os.WriteFile(image, nil, 0o600), os.Truncate(image, 128<<20)))
	run("mkfs.btrfs", "-q", image)
	run("mount", "-o", "loop", image, disk)
	defer syscall.Unmount(disk, 0)
	run("btrfs", "-q", "subvolume", "create", disk+"/original")
	dir := disk + "/original/ids"
	s := mustOpen(t, dir, plain)
	mustPut(t, s, "a/b", "", driver.None)
	run("btrfs", "-q", "subvolume", "snapshot", disk+"/original", disk+"/snapshot")
	wantError(t, testkit.Err(Open(disk+"/snapshot/ids")), driver.ErrUnsafe, driver.ErrCopied)
	mustOpen(t, dir, plain)

	blind := plain
	blind.here = func(path string) (place, error) {
		p, err := here(path)
		p.Volume = ""
		return p, err
	}
	copied := mustOpen(t, disk+"/snapshot/ids", blind) // so the subvolume is what tells
	release := testkit.Must(s.Exclude(t.Name(), "a"))
	defer release()
	if free(t, copied, t.Name(), "a") {
		t.Error("the snapshot has what the original has claimed")
	}

	run("btrfs", "-q", "subvolume", "create", dir+"/part") // which a snapshot of the store would lack
	wantError(t, testkit.Err(s.Put(t.Context(), "part/b", nil, driver.None)), driver.ErrUnsafe)
	wantError(t, testkit.Err(s.List(t.Context(), "part/")), driver.ErrUnsafe)
}

// TestExcludeMounts: containers have a volume at paths of their own. The volume's directory is moved
// away and another is made in its place, while a container uses it.
func TestExcludeMounts(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	base := t.TempDir()
	volume := filepath.Join(base, "volume")
	mount := func(at string) *Store {
		t.Helper()
		at = filepath.Join(base, at)
		testkit.OK(t, os.Mkdir(at, 0o700))
		mountOver(t, volume, at)
		return mustOpen(t, at, anyDisk)
	}
	testkit.OK(t, os.Mkdir(volume, 0o700))
	first, beside := mount("first"), mount("beside")
	release := testkit.Must(first.Exclude(t.Name(), "pool"))
	if !free(t, beside, t.Name(), "pool") {
		t.Error("two mounts of a directory exclude each other")
	}
	testkit.OK(t, errors.Join(os.Rename(volume, filepath.Join(base, "moved")), os.Mkdir(volume, 0o700)))
	again, host := mount("again"), mustOpen(t, volume, anyDisk)
	later := testkit.Must(first.Exclude(t.Name()+" later", "pool")) // the place is that at the time of Open
	for _, s := range []*Store{again, host} {
		for _, resource := range []string{t.Name(), t.Name() + " later"} {
			if free(t, s, resource, "pool") {
				t.Errorf("%s: what the directory that was there has claimed is free", s.dir)
			}
		}
	}
	release()
	later()
	if !free(t, again, t.Name(), "pool") || !free(t, host, t.Name()+" later", "pool") {
		t.Error("claims are left after their release")
	}
}

// TestClaimKeepsDirectory: as long as a claim lasts, no other directory gets the group of its
// directory: the filesystem cannot be unmounted, and the inode cannot be used again.
func TestClaimKeepsDirectory(t *testing.T) {
	dir, ok := mounted(t)
	if !ok {
		return
	}
	s := mustOpen(t, dir, anyDisk)
	release := testkit.Must(s.Exclude(t.Name(), "a"))
	testkit.Is(t, syscall.Unmount(dir, 0), syscall.EBUSY, "unmounted under a claim")
	release()
	testkit.OK(t, syscall.Unmount(dir, 0))
	if _, err := s.Exclude(t.Name(), "a"); err == nil {
		t.Error("another directory is claimed in the place of the store's")
	}
}

// TestFakeProc: a folder in the place of /proc does not pass for the machine.
func TestFakeProc(t *testing.T) {
	if os.Getenv("FIRN_FILELEASE_IN_"+t.Name()) == "" && onMachine() != nil {
		t.Skip("the machine is not seen from here")
	}
	if !inNamespaces(t, newMount) {
		return
	}
	fake := t.TempDir()
	err := errors.Join(os.MkdirAll(fake+"/self/ns", 0o755), os.WriteFile(fake+"/self/ns/pid", nil, 0o600))
	if err == nil {
		err = syscall.Mount(pidNamespace, fake+"/self/ns/pid", "", syscall.MS_BIND, "")
	}
	if err == nil {
		err = syscall.Mount(fake, "/proc", "", syscall.MS_BIND|syscall.MS_REC, "")
	}
	if err != nil {
		t.Skipf("the system does not permit another /proc: %v", err)
	}
	if f, err := openNamespace(pidNamespace, initialPIDs); err != nil {
		t.Errorf("the fake is not as it should be: %v", err)
	} else {
		f.Close()
	}
	if onMachine() == nil {
		t.Error("the fake passes for the machine's")
	}
	syscall.Unmount("/proc", syscall.MNT_DETACH)
	syscall.Unmount(fake+"/self/ns/pid", 0)
}

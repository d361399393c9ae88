package filelease

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

func TestPassingMount(t *testing.T) {
	const pod = `
100 99 0:50 / / rw,relatime - overlay overlay rw
101 100 8:1 /var/lib/kubelet/pods/4f3c/volumes/kubernetes.io~empty-dir/state /state rw - ext4 /dev/sda1 rw
102 100 8:1 /var/lib/kubelet/pods/4f3c/volumes/kubernetes.io~local-volume/pv /data rw - ext4 /dev/sda1 rw
103 101 8:1 /srv/ids /state/kept rw - ext4 /dev/sda1 rw
104 100 8:1 /var/lib/docker/volumes/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef/_data /anonymous\040one rw - ext4 /dev/sda1 rw
105 100 8:1 /var/lib/docker/volumes/ids/_data /named rw - ext4 /dev/sda1 rw
106 100 8:1 /var/lib/kubelet/pods/4f3c/volumes/kubernetes.io~empty-dir/a /twice rw - ext4 /dev/sda1 rw
107 106 8:1 /srv/ids /twice rw - ext4 /dev/sda1 rw
`
	for dir, want := range map[string]bool{
		"/state": true, "/state/firn": true, "/statement": false, "/data/firn": false, "/state/kept": false, "/state/kept/firn": false,
		"/anonymous one/firn": true, "/named/firn": false, "/twice/firn": false, "/": false, "/root": false,
	} {
		if got := passingMount(pod, dir); got != want {
			t.Errorf("passingMount(%s) = %v", dir, got)
		}
	}
}

func TestExclude(t *testing.T) {
	dir := t.TempDir()
	resource := t.Name() + dir // nobody else's on this machine
	s := mustOpen(t, dir, plain)
	first := testkit.Must(s.Exclude(resource, "a"))
	second, err := s.Exclude(resource, "a")
	if err != nil {
		t.Fatalf("of the same group: %v", err)
	}
	if free(t, s, resource, "b") || !free(t, s, resource+"'", "b") {
		t.Error("another group has the resource, or does not have another one")
	}
	if other := mustOpen(t, t.TempDir(), plain); !free(t, other, resource, "b") {
		t.Error("a store at another path is excluded")
	}
	first()
	if free(t, s, resource, "b") {
		t.Error("one of the group is still there")
	}
	second()
	if !free(t, s, resource, "b") {
		t.Error("nobody of the group is there")
	}
}

// claimOne claims a byte of a region. It returns the lock that another process has there, or a
// function to drop the claim.
func claimOne(t *testing.T, region, at int64) (release func(), other *clash) {
	t.Helper()
	release, found, err := claim(at, []int64{region})
	testkit.OK(t, err)
	if found[0] != nil {
		release()
	}
	return release, found[0]
}

// TestClaim: a group claims a resource between the steps of another group. Exactly one group gets
// the resource, whatever the slots, also at the ends of a region.
func TestClaim(t *testing.T) {
	const region = int64(0x0bad_c0dd) << 32
	defer func() { between = func() {} }()
	for _, slots := range [][2]int64{{0, 1}, {1, 0}, {5, math.MaxUint32}, {math.MaxUint32, math.MaxUint32 - 1}, {0, math.MaxUint32}} {
		var inner *clash
		between = func() {
			between = func() {}
			var release func()
			if release, inner = claimOne(t, region, slots[1]); inner == nil {
				t.Cleanup(release)
			}
		}
		release, outer := claimOne(t, region, slots[0])
		if outer == nil && inner == nil {
			t.Errorf("slots %d and %d are both claimed", slots[0], slots[1])
		}
		if outer != nil && inner != nil {
			t.Errorf("slots %d and %d: %v, %v", slots[0], slots[1], outer, inner)
		}
		if outer == nil {
			release()
		}
	}
}

// TestClaimBeside: a claim stays inside its region.
func TestClaimBeside(t *testing.T) {
	const region = int64(0x0bad_c0db) << 32
	for i, slot := range []int64{0, math.MaxUint32, 7} {
		release, other := claimOne(t, region+int64(i)<<32, slot)
		if other != nil {
			t.Fatalf("slot %d: %+v", slot, other)
		}
		defer release()
	}
}

// TestExcludeProcess: a claim excludes other processes, and ends with its process.
func TestExcludeProcess(t *testing.T) {
	const held, left = int64(0x0bad_c0de) << 32, int64(0x0bad_c0df) << 32
	if os.Getenv("FIRN_FILELEASE_IN_"+t.Name()) == "" {
		release, other := claimOne(t, held, 5)
		if other != nil {
			t.Fatalf("claimed by %s", other.holder())
		}
		defer release()
	}
	if inChild(t, nil) {
		_, other := claimOne(t, held, 6)
		if other == nil || other.foreign() {
			t.Fatalf("what the parent has claimed: %+v", other)
		}
		if got, want := other.holder(), fmt.Sprintf("process %d (", os.Getppid()); !strings.HasPrefix(got, want) {
			t.Errorf("the holder is %s, not %s", got, want)
		}
		if _, other := claimOne(t, left, 5); other != nil {
			t.Errorf("claimed by %s", other.holder())
		}
		return // and ends, with its claim
	}
	release, other := claimOne(t, left, 6)
	if other != nil {
		t.Fatalf("what the process had claimed that has ended: %s", other.holder())
	}
	release()
}

// TestReleaseBesideChildren: a released resource is free at once, even while the process starts
// children. Until a child runs its program, the child has all files of the process.
func TestReleaseBesideChildren(t *testing.T) {
	const region = int64(0x0bad_c0d9) << 32
	ctx, stop := context.WithCancel(t.Context())
	var children sync.WaitGroup
	defer children.Wait()
	defer stop()
	for range 2 {
		children.Go(func() {
			for ctx.Err() == nil {
				exec.CommandContext(ctx, os.Args[0], "-test.run=^$").Run()
			}
		})
	}
	for i := range 3000 {
		release, other := claimOne(t, region, int64(i%2))
		if other != nil {
			t.Errorf("claim %d: claimed by %s", i, other.holder())
			break
		}
		release()
	}
}

// TestUnseenHolder: a user may not see the files of the process that has a lock.
func TestUnseenHolder(t *testing.T) {
	if got := (&clash{start: int64(0x0bad_c0d7) << 32, length: 1}).holder(); !strings.HasPrefix(got, "a process that this user cannot see; root can: ") {
		t.Error(got)
	}
}

// refusing calls f on a thread on which the kernel refuses a command of fcntl(2), as by a container's seccomp profile.
func refusing(t *testing.T, command uint32, errno syscall.Errno, f func()) {
	t.Helper()
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the filter is for the calls of amd64 and arm64")
	}
	const load, equal, ret = syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, syscall.BPF_RET | syscall.BPF_K
	const refuse, allow = 0x00050000, 0x7fff0000 // SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW
	filter := []syscall.SockFilter{              // of struct seccomp_data: nr at 0, args[1] at 24
		{Code: load, K: 0}, {Code: equal, Jf: 3, K: syscall.SYS_FCNTL},
		{Code: load, K: 24}, {Code: equal, Jf: 1, K: command},
		{Code: ret, K: refuse | uint32(errno)}, {Code: ret, K: allow},
	}
	const setNoNewPrivs, setSeccomp, filterMode = 38, 22, 2
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and the thread ends with the goroutine
		program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, setNoNewPrivs, 1, 0, 0, 0, 0); e != 0 {
			err = e
		} else if _, _, e := syscall.RawSyscall6(syscall.SYS_PRCTL, setSeccomp, filterMode, uintptr(unsafe.Pointer(&program)), 0, 0, 0); e != 0 {
			err = e
		} else {
			f()
		}
	}()
	<-done
	if err != nil {
		t.Skipf("the system does not permit a filter of calls: %v", err)
	}
}

// TestExcludeWithoutLocks: the kernel refuses the locks of claims, or to look at them. A store goes on with a finding, and
// keeps the claims it could make.
func TestExcludeWithoutLocks(t *testing.T) {
	if err := onMachine(); err != nil {
		t.Skipf("the machine is not seen from here: %v", err)
	}
	for _, command := range []uint32{setLock, getLock} {
		for _, errno := range []syscall.Errno{syscall.EINVAL, syscall.ENOLCK, syscall.EPERM, syscall.ENOSYS} {
			t.Run(fmt.Sprint(command, " ", errno), func(t *testing.T) {
				dir := t.TempDir()
				s := mustOpen(t, dir+"/a", untold)
				testkit.Must(s.identity())
				testkit.OK(t, os.CopyFS(dir+"/b", os.DirFS(dir+"/a")))
				var release func()
				var err error
				var found []driver.Finding
				refusing(t, command, errno, func() {
					release, err = s.Exclude(t.Name(), "a")
					found, _ = s.Inspect(t.Context())
				})
				if err != nil || release == nil {
					t.Fatalf("Exclude = %t, %v", release != nil, err)
				}
				if len(found) != 1 || !strings.Contains(found[0].Text, "would not be noticed: fcntl") {
					t.Errorf("Inspect = %+v", found)
				}
				copied := mustOpen(t, dir+"/b", untold)
				if got := free(t, copied, t.Name(), "a"); got != (command == setLock) {
					t.Errorf("a copy gets what the store has claimed: %t", got)
				}
				release()
				if !free(t, copied, t.Name(), "a") {
					t.Error("a claim is left after its release")
				}
			})
		}
	}
}

package filelease

import (
	"fmt"
	"math"
	"runtime"
	"syscall"
	"unsafe"
)

// A claim on Windows is a semaphore in the namespace Global, which all users and sessions of the
// machine share. The name stands for the resource, and the count for the group. Windows removes a
// semaphore with the last handle, and closes the handles of an ended process. A semaphore of
// another user cannot be opened: then another group has the resource.

var (
	createSemaphore  = kernel32.NewProc("CreateSemaphoreW")
	releaseSemaphore = kernel32.NewProc("ReleaseSemaphore")
	createMutex      = kernel32.NewProc("CreateMutexW")
	releaseMutex     = kernel32.NewProc("ReleaseMutex")
)

// A clash is the claim of another group.
type clash struct{}

func (c *clash) foreign() bool { return false }

func (c *clash) holder() string { return "a process that Windows does not name" }

// claim claims each of the regions, and returns for each region a claim of another group, or nil.
func claim(at int64, regions []int64) (release func(), found []*clash, err error) {
	var claimed []syscall.Handle
	release = func() {
		for _, h := range claimed {
			syscall.CloseHandle(h)
		}
	}
	for _, region := range regions {
		h, other, err := claimOf(fmt.Sprintf(`Global\firn-claim-%016x`, uint64(region)), at)
		if err != nil {
			release()
			return nil, nil, err
		}
		if other == nil {
			claimed = append(claimed, h)
		}
		found = append(found, other)
	}
	return release, found, nil
}

// claimOf opens or makes a semaphore of the group at.
func claimOf(name string, at int64) (h syscall.Handle, other *clash, err error) {
	text, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return 0, nil, err
	}
	group := at>>1&math.MaxInt32 | 1 // not 0: a wait for 0 would not return
	got, _, errno := createSemaphore.Call(0, uintptr(group), math.MaxInt32, uintptr(unsafe.Pointer(text)))
	switch {
	case got == 0 && errno == syscall.ERROR_ACCESS_DENIED:
		return 0, &clash{}, nil
	case got == 0:
		return 0, nil, errno
	case errno != syscall.ERROR_ALREADY_EXISTS:
		return syscall.Handle(got), nil, nil
	}
	h = syscall.Handle(got)
	if same, err := hasCount(h, name, group); err != nil || !same {
		syscall.CloseHandle(h)
		return 0, &clash{}, err
	}
	return h, nil, nil
}

// hasCount reports whether the count of a semaphore is that of the group. A reader takes one from
// the count and adds one again, and readers take turns by a mutex. If a process dies in between,
// the count fits no group from then on, and no process joins the group.
func hasCount(h syscall.Handle, name string, group int64) (bool, error) {
	text, err := syscall.UTF16PtrFromString(name + "-turn")
	if err != nil {
		return false, err
	}
	runtime.LockOSThread() // which the mutex belongs to
	defer runtime.UnlockOSThread()
	got, _, errno := createMutex.Call(0, 0, uintptr(unsafe.Pointer(text)))
	if got == 0 {
		return false, errno
	}
	turn := syscall.Handle(got)
	defer syscall.CloseHandle(turn)
	const longest, abandoned = 2000, 0x80 // milliseconds, WAIT_ABANDONED
	if event, err := syscall.WaitForSingleObject(turn, longest); event != syscall.WAIT_OBJECT_0 && event != abandoned {
		return false, err
	}
	defer releaseMutex.Call(got)
	if event, err := syscall.WaitForSingleObject(h, 0); event != syscall.WAIT_OBJECT_0 {
		return false, err
	}
	var before int32
	if ok, _, errno := releaseSemaphore.Call(uintptr(h), 1, uintptr(unsafe.Pointer(&before))); ok == 0 {
		return false, errno
	}
	return int64(before)+1 == group, nil
}

// rootDirectory returns "": paths contain the volume.
func rootDirectory() string { return "" }

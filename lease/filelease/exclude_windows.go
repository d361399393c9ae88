package filelease

import (
	"fmt"
	"math"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// A claim on Windows is a semaphore in the namespace Global, which all users and sessions of the machine
// share. Its name stands for the resource, and its count for the group. Windows removes a semaphore
// with its last handle, and closes the handles of a process that ends. A semaphore of another user
// cannot be opened: then another group has the resource.

var (
	createSemaphore  = kernel32.NewProc("CreateSemaphoreW")
	releaseSemaphore = kernel32.NewProc("ReleaseSemaphore")
)

const errAccessDenied = syscall.ERROR_ACCESS_DENIED

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
	group := at>>1&math.MaxInt32 | 1 // not 0, for which a wait would not return
	got, _, errno := createSemaphore.Call(0, uintptr(group), math.MaxInt32, uintptr(unsafe.Pointer(text)))
	switch {
	case got == 0 && errno == errAccessDenied:
		return 0, &clash{}, nil
	case got == 0:
		return 0, nil, errno
	case errno != syscall.ERROR_ALREADY_EXISTS:
		return syscall.Handle(got), nil, nil
	}
	// To read the count is to take one and give it back. While other processes do so, the count is less
	// by their number. Groups are hashes: two groups differ by far more.
	h = syscall.Handle(got)
	for range 20 {
		if event, _ := syscall.WaitForSingleObject(h, 0); event == syscall.WAIT_OBJECT_0 {
			var before int32
			if ok, _, errno := releaseSemaphore.Call(got, 1, uintptr(unsafe.Pointer(&before))); ok == 0 {
				syscall.CloseHandle(h)
				return 0, nil, errno
			}
			if int64(before)+1 == group {
				return h, nil, nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	syscall.CloseHandle(h)
	return 0, &clash{}, nil
}

// rootDirectory returns "": paths have their volume.
func rootDirectory() string { return "" }

// inFilesystem returns "": a directory has one path.
func inFilesystem(*os.File) string { return "" }

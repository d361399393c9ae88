package filelease

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// Inodes of the kernel's initial namespaces (linux/proc_ns.h), on the filesystem of namespaces. The
// numbers belong to the kernel's interface: every process of a kernel finds the same objects under
// these numbers.
const (
	initialTime = 0xeffffffa
	initialPIDs = 0xeffffffc
	nsfsMagic   = 0x6e736673
)

const (
	namespaces    = "/proc/self/ns"
	procMagic     = 0x9fa0
	timeNamespace = "/proc/self/ns/time" // from Linux 5.6 on
	pidNamespace  = "/proc/self/ns/pid"
)

// onMachine returns an error unless this process is in the kernel's initial PID namespace and
// initial time namespace. Engines put each container in another PID namespace. The namespaces of a
// process with several threads do not change.
var onMachine = sync.OnceValue(func() error {
	f, err := openNamespace(pidNamespace, initialPIDs)
	if err == nil {
		f.Close()
		f, err = openKernel()
	}
	if err == nil {
		f.Close()
	}
	return err
})

// openKernel opens the initial time namespace. All processes of the kernel share the namespace: it does
// not depend on users, roots or mounts, and engines of containers make no time namespaces.
func openKernel() (*os.File, error) {
	f, err := openNamespace(timeNamespace, initialTime)
	if errors.Is(err, fs.ErrNotExist) {
		// The kernel may be older. A folder in the place of /proc could leave out anything.
		var on syscall.Statfs_t
		if err = ignoringEINTR(func() error { return syscall.Statfs(namespaces, &on) }); err == nil && uint32(on.Type) != procMagic {
			err = fmt.Errorf("%s is not the kernel's", namespaces)
		}
		if err == nil {
			f, err = openNamespace(pidNamespace, initialPIDs)
		}
	}
	return f, err
}

// openNamespace opens the namespace of this process at a path. If the namespace has another number,
// openNamespace returns an error.
func openNamespace(path string, number uint64) (*os.File, error) {
	f, err := openToRead(path)
	if err != nil {
		return nil, err
	}
	var on syscall.Statfs_t
	err = ignoringEINTR(func() error { return syscall.Fstatfs(int(f.Fd()), &on) })
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && (uint32(on.Type) != nsfsMagic || inode("", info) != number) {
			err = fmt.Errorf("this process is in a namespace of its own, as in a container: %s is not that of the machine", path)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

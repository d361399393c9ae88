package resp

import (
	"syscall"
	"unsafe"
)

// sysRead reads from a socket that does not block, and does not tell the scheduler of Go: the scheduler would look after
// a call that may block. A quarter of the processor time of a command went there. b is not empty.
func sysRead(fd uintptr, b []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// sysWrite writes to a socket that does not block. The scheduler is told of the calls that copy much.
func sysWrite(fd uintptr, b []byte) (int, error) {
	if len(b) > keep {
		return syscall.Write(int(fd), b)
	}
	n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

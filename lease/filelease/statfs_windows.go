package filelease

import (
	"io/fs"
	"strings"
	"syscall"
	"unsafe"
)

var (
	getVolumeInformationByHandle = kernel32.NewProc("GetVolumeInformationByHandleW")
	getFileInformationByHandleEx = kernel32.NewProc("GetFileInformationByHandleEx")
	getFinalPathNameByHandle     = kernel32.NewProc("GetFinalPathNameByHandleW")
	getVolumePathName            = kernel32.NewProc("GetVolumePathNameW")
	getDriveType                 = kernel32.NewProc("GetDriveTypeW")
)

// statfs returns what a path is on.
func statfs(path string) (filesystem, error) {
	f, err := openHandle(path, 0, syscall.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return filesystem{}, err
	}
	defer f.Close()
	fail := func(op string, err error) (filesystem, error) {
		return filesystem{}, &fs.PathError{Op: op, Path: path, Err: err}
	}

	var name [256]uint16
	ok, _, err := getVolumeInformationByHandle.Call(f.Fd(), 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)))
	if ok == 0 {
		return fail("GetVolumeInformationByHandle", err)
	}

	// The path without links and drives that stand for folders, and then the root of its volume.
	final := make([]uint16, syscall.MAX_PATH)
	for {
		n, _, err := getFinalPathNameByHandle.Call(f.Fd(), uintptr(unsafe.Pointer(&final[0])), uintptr(len(final)), 0)
		if n == 0 {
			return fail("GetFinalPathNameByHandle", err)
		}
		if n < uintptr(len(final)) {
			break
		}
		final = make([]uint16, n+1) // n counts the 0 at the end
	}
	root := make([]uint16, len(final)+1)
	ok, _, err = getVolumePathName.Call(uintptr(unsafe.Pointer(&final[0])), uintptr(unsafe.Pointer(&root[0])), uintptr(len(root)))
	if ok == 0 {
		return fail("GetVolumePathName", err)
	}
	plainRoot, err := syscall.UTF16PtrFromString(strings.TrimPrefix(syscall.UTF16ToString(root), `\\?\`))
	if err != nil {
		return fail("GetDriveType", err)
	}
	drive, _, _ := getDriveType.Call(uintptr(unsafe.Pointer(plainRoot)))

	// Only files of other machines have a protocol.
	const fileRemoteProtocolInfo = 13
	var protocol [64]uint64 // aligned
	remote, _, _ := getFileInformationByHandleEx.Call(f.Fd(), fileRemoteProtocolInfo, uintptr(unsafe.Pointer(&protocol[0])), unsafe.Sizeof(protocol))
	isRemote := remote != 0 && protocol != [64]uint64{} || strings.HasPrefix(syscall.UTF16ToString(final), `\\?\UNC\`)
	return byVolume(syscall.UTF16ToString(name[:]), uint32(drive), isRemote), nil
}

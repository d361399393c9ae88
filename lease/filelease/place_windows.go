package filelease

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// born returns 0, for unknown. Windows does not use the number of a file again: in the number, NTFS
// counts the uses of the file's record. And programs may set the time when a file was made.
func born(string) int64 { return 0 }

// machineID returns the number made by the installation of Windows, or "".
func machineID() string {
	return registryText(`SOFTWARE\Microsoft\Cryptography`, "MachineGuid")
}

func subvolume(string) string { return "" }

// mountNumber returns 0, for unknown: a folder on which a volume is mounted is no folder to os.Lstat.
func mountNumber(string, *os.File) uint64 { return 0 }

// onMachine returns an error if this process runs in a container of Windows.
func onMachine() error {
	key, ok := openRegistry(`SYSTEM\CurrentControlSet\Control`)
	if !ok {
		return nil
	}
	defer syscall.RegCloseKey(key)
	name, err := syscall.UTF16PtrFromString("ContainerType")
	if err == nil && syscall.RegQueryValueEx(key, name, nil, nil, nil, nil) == nil {
		return errors.New("this process is in a container")
	}
	return nil
}

// readMounts returns "": whether a directory is on a volume of a container, Windows does not tell.
func readMounts() string { return "" }

func passingMount(string, string) bool { return false }

func inFilesystem(string, string) string { return "" }

func openRegistry(path string) (key syscall.Handle, ok bool) {
	const wow64 = 0x0100 // KEY_WOW64_64KEY: 32-bit programs see what the others see
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return 0, false
	}
	err = syscall.RegOpenKeyEx(syscall.HKEY_LOCAL_MACHINE, name, 0, syscall.KEY_QUERY_VALUE|wow64, &key)
	return key, err == nil
}

// registryText returns a text of the registry, or "".
func registryText(path, name string) string {
	key, ok := openRegistry(path)
	if !ok {
		return ""
	}
	defer syscall.RegCloseKey(key)
	var kind uint32
	var text [128]uint16
	size := uint32(unsafe.Sizeof(text))
	value, err := syscall.UTF16PtrFromString(name)
	if err != nil || syscall.RegQueryValueEx(key, value, nil, &kind, (*byte)(unsafe.Pointer(&text[0])), &size) != nil || kind != syscall.REG_SZ {
		return ""
	}
	return syscall.UTF16ToString(text[:])
}

package filelease

import (
	"fmt"
	"math"
	"os"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// statxNumbers are the numbers of statx(2).
var statxNumbers = map[string]uintptr{
	"386": 383, "amd64": 332, "arm": 397, "arm64": 291, "loong64": 291, "mips": 4366, "mipsle": 4366, "mips64": 5326, "mips64le": 5326,
	"ppc64": 383, "ppc64le": 383, "riscv64": 291, "s390x": 379,
}

// statx is struct statx of linux/stat.h.
type statx struct {
	mask  uint32
	_     [76]byte
	birth struct { // at 0x50
		sec  int64
		nsec uint32
		_    int32
	}
	_     [48]byte
	mount uint64 // at 0x90
	_     [104]byte
}

// Fields that statx(2) is asked for.
const (
	birthTime = 0x800  // STATX_BTIME
	mountID   = 0x1000 // STATX_MNT_ID, from Linux 5.8 on
)

// statxOf returns what the kernel knows of an open file or, if f is nil, of what is at a path, and
// whether it knows the field.
func statxOf(path string, f *os.File, field uint32) (stat statx, ok bool) {
	at, flags := ^uintptr(99), uintptr(0) // AT_FDCWD, -100
	if f != nil {
		path, at, flags = "", f.Fd(), 0x1000 // AT_EMPTY_PATH
	}
	number, ok := statxNumbers[runtime.GOARCH]
	name, err := syscall.BytePtrFromString(path)
	if !ok || err != nil {
		return stat, false
	}
	_, _, errno := syscall.Syscall6(number, at, uintptr(unsafe.Pointer(name)), flags, uintptr(field), uintptr(unsafe.Pointer(&stat)), 0)
	return stat, errno == 0 && stat.mask&field != 0
}

// born returns when a directory was made, in Unix nanoseconds; 0 if the time is unknown.
func born(dir string) int64 {
	stat, ok := statxOf(dir, nil, birthTime)
	// A time that does not fit counts as unknown.
	if !ok || stat.birth.sec <= 0 || stat.birth.sec > math.MaxInt64/int64(time.Second)-1 {
		return 0
	}
	return stat.birth.sec*int64(time.Second) + int64(stat.birth.nsec)
}

// mountNumber returns the number of the mount of an open file or, if f is nil, of what is at a path;
// 0 if the kernel does not tell. Another mount can get the number once the mount is gone, and no file
// is open there.
func mountNumber(path string, f *os.File) uint64 {
	if stat, ok := statxOf(path, f, mountID); ok {
		return stat.mount
	}
	var fd int
	if f != nil {
		fd = int(f.Fd())
	} else {
		const pathOnly = 0x200000 // O_PATH
		var err error
		if fd, err = syscall.Open(path, pathOnly|syscall.O_CLOEXEC, 0); err != nil {
			return 0
		}
		defer syscall.Close(fd)
	}
	info, _ := readAll(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	_, rest, _ := strings.Cut(string(info), "mnt_id:")
	number, _, _ := strings.Cut(rest, "\n")
	id, _ := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
	return id
}

// subvolume returns the number of a directory's subvolume on Btrfs, or "". On other filesystems the
// number is not of the filesystem alone, and can change.
func subvolume(path string) string {
	var st syscall.Statfs_t
	if err := ignoringEINTR(func() error { return syscall.Statfs(path, &st) }); err != nil || uint32(st.Type) != btrfsMagic {
		return ""
	}
	return fmt.Sprintf("%08x%08x", uint32(st.Fsid.X__val[0]), uint32(st.Fsid.X__val[1]))
}

// passing matches the roots of mounts that are removed with a container or a pod: the host's path
// of a Kubernetes emptyDir, or of a volume without a name in Docker or Podman.
var passing = regexp.MustCompile(`/volumes/kubernetes\.io~empty-dir/|/volumes/[0-9a-f]{64}/_data(/|$)`)

// passingMount reports whether a directory is on a mount that is removed with the container or pod,
// according to mountinfo, the content of /proc/self/mountinfo. The path of the directory has no
// symbolic links.
func passingMount(mountinfo, dir string) bool {
	_, root, _ := mountOf(mountinfo, dir)
	return passing.MatchString(root)
}

// inFilesystem returns the place of a directory in the filesystem: the device, and the path from
// the root of the filesystem. The place is the same in all containers, whatever they mount where.
// It is "" if mountinfo lacks the mount.
func inFilesystem(mountinfo, dir string) string {
	device, root, point := mountOf(mountinfo, dir)
	if device == "" {
		return ""
	}
	return device + " " + path.Join(root, strings.TrimPrefix(dir, point))
}

// mountOf returns the mount of a directory: the device, the mounted directory of the device's
// filesystem, and the path of the mount.
func mountOf(mountinfo, dir string) (device, root, point string) {
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line) // proc(5): ID, parent, device, root, mount point, …
		if len(fields) < 5 {
			continue
		}
		at := unescapeMount.Replace(fields[4])
		if below := at == "/" || dir == at || strings.HasPrefix(dir, at+"/"); below && len(at) >= len(point) { // a later mount hides those before
			device, root, point = fields[2], path.Clean(unescapeMount.Replace(fields[3])), at
		}
	}
	return device, root, point
}

var unescapeMount = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// readMounts returns the content of /proc/self/mountinfo, or "" if the system does not tell.
func readMounts() string {
	mounts, err := readAll("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return string(mounts)
}

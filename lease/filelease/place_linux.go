package filelease

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"runtime"
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

// born returns when a directory was made, in Unix nanoseconds; 0 if the time is unknown.
func born(dir string) int64 {
	const (
		atCwd     = ^uintptr(99) // AT_FDCWD, -100
		birthTime = 0x800        // STATX_BTIME
	)
	var stat struct {
		mask  uint32
		_     [76]byte
		birth struct { // at 0x50
			sec  int64
			nsec uint32
			_    int32
		}
		_ [160]byte // the kernel writes 256 bytes in all
	}
	number, ok := statxNumbers[runtime.GOARCH]
	name, err := syscall.BytePtrFromString(dir)
	if !ok || err != nil {
		return 0
	}
	_, _, errno := syscall.Syscall6(number, atCwd, uintptr(unsafe.Pointer(name)), 0, birthTime, uintptr(unsafe.Pointer(&stat)), 0)
	// A time that does not fit counts as unknown.
	if errno != 0 || stat.mask&birthTime == 0 || stat.birth.sec <= 0 || stat.birth.sec > math.MaxInt64/int64(time.Second)-1 {
		return 0
	}
	return stat.birth.sec*int64(time.Second) + int64(stat.birth.nsec)
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

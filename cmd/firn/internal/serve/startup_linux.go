package serve

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// leaveStartup unmaps the pages of the program's file. The start of firn touches most of the program: the code of all
// commands and stores prepares itself. A server then needs a part, which the kernel maps again, page by page, without
// reading the file. The rest no longer counts as memory of the server, and is the first that the kernel takes back.
//
// leaveStartup unmaps the pages of read-only mappings without pages of their own: the content of such a mapping is the file's.
func leaveStartup() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return err
	}
	defer maps.Close()
	var from, to uint64 // of the mapping that the lines are about
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 6 && strings.Contains(words[0], "-") { // range, rights, offset, device, inode, file
			from, to = 0, 0
			first, last, _ := strings.Cut(words[0], "-")
			if words[5] != program || strings.Contains(words[1], "w") {
				continue
			}
			if from, err = strconv.ParseUint(first, 16, 64); err != nil {
				return err
			}
			if to, err = strconv.ParseUint(last, 16, 64); err != nil {
				return err
			}
		}
		if len(words) == 3 && words[0] == "Anonymous:" && words[1] == "0" && to > from {
			if _, _, errno := unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED); errno != 0 {
				return errno
			}
		}
		if len(words) == 5 || len(words) > 6 {
			from, to = 0, 0 // a mapping without a file
		}
	}
	return lines.Err()
}

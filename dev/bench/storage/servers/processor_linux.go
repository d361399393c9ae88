package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticksPerSecond is the unit of times in /proc, the same on all machines that Go runs on.
const ticksPerSecond = 100

// processorTime returns the processor time of a process and its children in seconds, also of the
// children that have ended.
func processorTime(pid int) (float64, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var ticks int64
	found := false
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		// The line is "pid (name) state parent …", and a name may have spaces.
		text := string(content)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if len(fields) < 15 {
			return 0, fmt.Errorf("%s: %d fields", path, len(fields))
		}
		self := filepath.Base(filepath.Dir(path)) == strconv.Itoa(pid)
		if !self && fields[1] != strconv.Itoa(pid) {
			continue
		}
		found = found || self
		times := fields[11:13] // utime and stime
		if self {
			times = fields[11:15] // also cutime and cstime, of children that have ended
		}
		for _, v := range times {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", path, err)
			}
			ticks += n
		}
	}
	if !found {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return float64(ticks) / ticksPerSecond, nil
}

package serve

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// The pages of the program's file go, and come again with their content.
func TestLeaveStartup(t *testing.T) {
	mapped := func() int {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "RssFile:"); ok {
				n, err := strconv.Atoi(strings.Fields(rest)[0])
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
		}
		t.Skip("the kernel counts no pages of files")
		return 0
	}
	before := mapped()
	if err := leaveStartup(); err != nil {
		t.Fatal(err)
	}
	after := mapped()
	t.Logf("%d kB before, %d kB after", before, after)
	if after >= before {
		t.Errorf("%d kB of files before, %d kB after", before, after)
	}
}

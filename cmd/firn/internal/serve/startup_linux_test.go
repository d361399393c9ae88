package serve

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// The pages of the program's file go, and come again with their content.
func TestLeaveStartup(t *testing.T) {
	mapped := func() int {
		status, err := os.ReadFile("/proc/self/status")
		testkit.OK(t, err)
		for line := range strings.Lines(string(status)) {
			if rest, ok := strings.CutPrefix(line, "RssFile:"); ok {
				n, err := strconv.Atoi(strings.Fields(rest)[0])
				testkit.OK(t, err)
				return n
			}
		}
		t.Skip("the kernel counts no pages of files")
		return 0
	}
	before := mapped()
	testkit.OK(t, leaveStartup())
	after := mapped()
	t.Logf("%d kB before, %d kB after", before, after)
	if after >= before {
		t.Errorf("%d kB of files before, %d kB after", before, after)
	}
}

package filelease

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// Processes of all versions claim the same bytes of the same object for a worker. The byte of a version that claimed
// another byte would not exclude a copy of the store any more (VERSIONING.md).
func TestClaimsOfReleases(t *testing.T) {
	const (
		resource = "compat 7"
		region   = 8715613753216860160 // of the store compat
	)
	s := twin(t, "compat")
	mustPut(t, s, "a", "", driver.None)
	release := testkit.Must(s.Exclude(resource, "a pool"))
	defer release()
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skipf("the kernel does not list locks here: %v", err)
	}
	for line := range strings.Lines(string(locks)) { // 1: OFDLCK ADVISORY  READ -1 00:04:4026531834 START END
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "OFDLCK" || f[3] != "READ" || !strings.HasSuffix(f[5], ":4026531834") {
			continue
		}
		if start, err := strconv.ParseInt(f[6], 10, 64); err == nil && start>>32<<32 == region {
			return
		}
	}
	t.Errorf("no process has a lock in the 2^32 bytes from %d on: %s", int64(region), locks)
}

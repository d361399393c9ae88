package filelease

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// Processes of all versions claim the same bytes for a worker. The byte of a version that claimed
// another byte would not exclude the pools of other users any more (VERSIONING.md).
func TestClaimsOfReleases(t *testing.T) {
	const (
		resource = "compat 7"
		region   = 5502697020005023744 // of the default directories, in version 0.1.0
	)
	root, err := os.Stat(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Store{root: root, byDefault: true}
	release, err := s.Exclude(resource, "a pool")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skipf("the kernel does not list locks here: %v", err)
	}
	for line := range strings.Lines(string(locks)) { // 1: OFDLCK ADVISORY  READ -1 00:2a:131 START END
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "OFDLCK" || f[3] != "READ" {
			continue
		}
		if start, err := strconv.ParseInt(f[6], 10, 64); err == nil && start>>32<<32 == region {
			return
		}
	}
	t.Errorf("no process has a lock in the 2^32 bytes from %d on: %s", int64(region), locks)
}

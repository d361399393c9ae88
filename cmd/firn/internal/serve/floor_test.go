package serve

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strconv"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// A heap is what a process prints that has a floor.
type heap struct {
	Goal uint64 // the size at which Go collects next, in bytes
	More int    // of the machine's memory since before the floor, in bytes; 0 where the system has no /proc
}

// The heap of the server may grow by 10 MiB between two collections, unless the environment says how often Go collects.
// The floor takes no memory of the machine. Each case has a process of its own: Go writes zeros to memory that it uses again.
func TestFloor(t *testing.T) {
	const child = "FIRN_TEST_FLOOR"
	if os.Getenv(child) != "" {
		before := resident(t)
		kept := floor()
		runtime.GC() // sets the goal
		s := []metrics.Sample{{Name: "/gc/heap/goal:bytes"}}
		metrics.Read(s)
		testkit.OK(t, json.NewEncoder(os.Stdout).Encode(heap{s[0].Value.Uint64(), resident(t) - before}))
		runtime.KeepAlive(kept)
		os.Exit(0)
	}
	for _, test := range []struct {
		name, value string
		raised      bool
	}{{"GOGC", "", true}, {"GOGC", "100", false}, {"GOMEMLIMIT", "1GiB", false}} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFloor$")
		cmd.Env = append(os.Environ(), "GOGC=", "GOMEMLIMIT=", test.name+"="+test.value, child+"=1")
		out, err := cmd.Output()
		var h heap
		if err != nil || json.Unmarshal(out, &h) != nil {
			t.Fatalf("%s=%s: %v: %s", test.name, test.value, err, out)
		}
		if (h.Goal >= 20<<20) != test.raised || h.Goal == 0 {
			t.Errorf("%s=%s: Go collects next at %d bytes", test.name, test.value, h.Goal)
		}
		if h.More > 5<<20 {
			t.Errorf("%s=%s: the floor takes %d bytes of the machine", test.name, test.value, h.More)
		}
	}
}

// resident returns the memory of the machine that the process has, in bytes.
func resident(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		if runtime.GOOS == "linux" {
			t.Fatal(err)
		}
		return 0
	}
	pages, err := strconv.Atoi(string(bytes.Fields(text)[1]))
	testkit.OK(t, err)
	return pages * os.Getpagesize()
}

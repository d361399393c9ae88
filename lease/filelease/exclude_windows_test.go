package filelease

import (
	"math"
	"os"
	"sync"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// claimOne claims a resource for a group. It returns the claim of another group, or a function to drop
// the claim.
func claimOne(t *testing.T, region, at int64) (release func(), other *clash) {
	t.Helper()
	release, found, err := claim(at, []int64{region})
	if err != nil {
		t.Fatal(err)
	}
	return release, found[0]
}

// TestClaim: one group has a resource, until its last claim is dropped.
func TestClaim(t *testing.T) {
	const region = int64(0x0bad_c0dd) << 32
	for _, groups := range [][2]int64{{0, 4}, {4, 0}, {5, math.MaxUint32}, {math.MaxUint32, 8}} {
		first, other := claimOne(t, region, groups[0])
		if other != nil {
			t.Fatal("nobody has it")
		}
		second, other := claimOne(t, region, groups[0])
		if other != nil {
			t.Error("the group has it, and cannot share it")
		}
		for _, drop := range []func(){first, second} {
			if _, other := claimOne(t, region, groups[1]); other == nil {
				t.Errorf("groups %d both have it", groups)
			}
			drop()
		}
	}
}

// TestClaimAtOnce: of many callers of two groups, those of one group get the resource.
func TestClaimAtOnce(t *testing.T) {
	const region = int64(0x0bad_c0dc) << 32
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := make(map[int64]int)
	start := make(chan struct{})
	for i := range int64(8) {
		wg.Go(func() {
			<-start
			release, found, err := claim(1<<20<<(i%2), []int64{region})
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(release)
			if found[0] == nil {
				mu.Lock()
				got[i%2]++
				mu.Unlock()
			}
		})
	}
	close(start)
	wg.Wait()
	if len(got) != 1 || got[0]+got[1] != 4 {
		t.Errorf("callers of the groups that got it: %v", got)
	}
}

// TestExcludeProcess: a claim excludes other processes, and ends with its process.
func TestExcludeProcess(t *testing.T) {
	const held, left = int64(0x0bad_c0de) << 32, int64(0x0bad_c0df) << 32
	if os.Getenv("FIRN_FILELEASE_IN_"+t.Name()) == "" {
		release, _ := claimOne(t, held, 4)
		defer release()
	}
	if inChild(t, nil) {
		if _, other := claimOne(t, held, 8); other == nil {
			t.Error("what the parent has claimed is free")
		}
		if _, other := claimOne(t, left, 4); other != nil {
			t.Error("another resource is claimed")
		}
		return // and ends, with its claim
	}
	release, other := claimOne(t, left, 8)
	if other != nil {
		t.Fatal("what the process had claimed that has ended is not free")
	}
	release()
}

// TestExclude: two copies of a directory exclude each other, and so do two pools of one.
func TestExclude(t *testing.T) {
	first, second := twin(t, t.Name()), twin(t, t.Name())
	release := testkit.Must(first.Exclude(t.Name(), "a"))
	again := testkit.Must(first.Exclude(t.Name(), "a"))
	if free(t, second, t.Name(), "a") {
		t.Error("the copy is not excluded")
	}
	if free(t, first, t.Name(), "b") {
		t.Error("another pool of the directory is not excluded")
	}
	release()
	again()
	if !free(t, second, t.Name(), "a") {
		t.Error("nobody is there, and the copy is excluded")
	}
}

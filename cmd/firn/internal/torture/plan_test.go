package torture

import (
	"reflect"
	"testing"
	"time"
)

// planned returns the first actions of each slot.
func planned(seed uint64, n int, network bool) (all [][]action) {
	c := Config{Seed: seed, Processes: 8, Window: time.Second}
	if network {
		c.Via = func([]string) string { return "" }
	}
	for slot := range c.Processes {
		var actions []action
		for p := newPlan(c, slot); len(actions) < n; {
			actions = append(actions, p.next(faultsOf(network)))
		}
		all = append(all, actions)
	}
	return all
}

// The seed alone says what is done; all there is comes soon, and an hour ahead only once.
func TestPlan(t *testing.T) {
	if a, b := planned(7, 50, true), planned(7, 50, true); !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives two plans")
	}
	if a, b := planned(7, 50, true), planned(8, 50, true); reflect.DeepEqual(a, b) {
		t.Error("two seeds give one plan")
	}
	for _, network := range []bool{false, true} {
		for seed := range uint64(50) {
			counts := func(n int) map[fault]int {
				counts := map[fault]int{}
				for _, actions := range planned(seed, n, network) {
					for _, a := range actions {
						counts[a.fault]++
					}
				}
				return counts
			}
			soon, all := counts(5), counts(200)
			for _, f := range faultsOf(network) {
				if soon[f] == 0 || f.weight > 0 && all[f] < 8*f.weight {
					t.Errorf("seed %d: %v %d times, and %d soon", seed, f, all[f], soon[f])
				}
				if f.weight == 0 && all[f] != 1 {
					t.Errorf("seed %d: %v %d times", seed, f, all[f])
				}
			}
		}
	}
}

package torture

import (
	"reflect"
	"testing"
	"time"
)

// The seed alone says what is done; and all there is is planned, hours only now and then.
func TestPlan(t *testing.T) {
	if a, b := plan(7, 8, time.Second, time.Minute, true), plan(7, 8, time.Second, time.Minute, true); !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives two plans")
	}
	if a, b := plan(7, 8, time.Second, time.Minute, true), plan(8, 8, time.Second, time.Minute, true); reflect.DeepEqual(a, b) {
		t.Error("two seeds give one plan")
	}
	for _, c := range []struct {
		processes int
		duration  time.Duration
		kills     int // at least
	}{{8, 10 * time.Minute, 250}, {8, 2 * time.Minute, 50}, {4, time.Minute, 10}} {
		for seed := range uint64(50) {
			kinds, sizes := map[kind]int{}, map[string]int{}
			for _, actions := range plan(seed, c.processes, time.Second, c.duration, false) {
				ahead := false
				for _, a := range actions {
					kinds[a.kind]++
					sizes[a.name]++
					if a.kind == stepBy && ahead {
						t.Fatalf("seed %d: a step on top of one that is large", seed)
					}
					ahead = a.kind == stepBy && a.size.Abs() > time.Second || ahead && a.kind != setBack
				}
			}
			if kinds[kill] < c.kills || kinds[stop] < c.kills || kinds[finish] == 0 {
				t.Errorf("seed %d: %v", seed, kinds)
			}
			for _, s := range steps {
				if sizes[s.name] == 0 {
					t.Errorf("seed %d: no step of %s", seed, s.name)
				}
			}
			if sizes["+1h"] > mostHours {
				t.Errorf("seed %d: %d steps of an hour ahead", seed, sizes["+1h"])
			}
			for _, s := range stops {
				if sizes[s.name] == 0 {
					t.Errorf("seed %d: no stop of %s", seed, s.name)
				}
			}
		}
	}
	kinds := map[kind]int{}
	for _, actions := range plan(3, 8, time.Second, time.Minute, true) {
		for _, a := range actions {
			kinds[a.kind]++
		}
	}
	if kinds[cutRequests] < 5 || kinds[cutReplies] < 5 || kinds[delay] < 5 || kinds[kill] < 10 {
		t.Errorf("with a network: %v", kinds)
	}
}

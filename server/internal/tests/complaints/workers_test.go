package complaints

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// TestLeaf84WorkersReclaimed: Leaf keeps a worker ID for each address and port for ever. Containers come with new
// addresses, so all worker IDs were used up at some time (Leaf 84, 21).
//
// A lease of Firn ends with its window, and any server takes the worker then. Addresses and names mean nothing.
func TestLeaf84WorkersReclaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store, seen := memlease.New(), all{}
		for i := range 20 { // servers of a pool with two workers, each with another name
			s := begin(t, store, few, func(c *supply.Config, _ *supply.Generator, _ *link) { c.Lease.Holder = fmt.Sprintf("10.0.0.%d", i) })
			began := time.Now()
			seen.add(t, s, s.take(t, 100))
			if took := time.Since(began); took > window {
				t.Errorf("server %d waited %v", i, took)
			}
			s.kill()
		}
	})
}

// TestUidGenerator88WorkersAreReused: uid-generator takes a new worker ID from a table at each start, and never an old
// one. After enough starts, "Worker id 4194307 exceeds the max 4194303" (88); other versions began to repeat IDs (52).
//
// A server of Firn gives its worker back when it stops. The next server takes the worker at once.
func TestUidGenerator88WorkersAreReused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store, seen := memlease.New(), all{}
		for range 100 { // starts, with two workers
			s := begin(t, store, few)
			began := time.Now()
			seen.add(t, s, s.take(t, 100))
			if took := time.Since(began); took > time.Second {
				t.Errorf("a server waited %v", took)
			}
			s.stop(t)
		}
	})
}

// TestCAP1322TenPods: ten pods made duplicate keys, because worker numbers came from the last bits of MAC addresses
// (dotnetcore/CAP 1322), from nothing (mybatis-plus 6177), or were all zero (centreon 10373).
//
// A worker of Firn is leased: the store gives the worker to one server at a time, by comparing and changing a record in one step.
func TestCAP1322TenPods(t *testing.T) {
	store := memlease.New()
	const pods = 10
	made := make([][]byte, pods)
	servers := make([]*server, pods)
	var running sync.WaitGroup
	for i := range pods {
		servers[i] = begin(t, store) // with the same settings
		running.Go(func() { made[i] = servers[i].take(t, 5000) })
	}
	running.Wait()
	seen, workers := all{}, map[int]bool{}
	for i, s := range servers {
		seen.add(t, s, made[i])
		workers[s.worker()] = true
	}
	if len(workers) != pods {
		t.Errorf("%d workers of %d servers", len(workers), pods)
	}
}

// TestFlakeIdgen8: four processes made 200 million IDs. They were killed half way and started again, and 2000 IDs came twice
// (flake-idgen 8): a new process knows nothing of the last millisecond of the old process.
//
// A server of Firn makes IDs within an interval that the store has recorded before. The next holder of the worker begins
// after the interval.
func TestFlakeIdgen8(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store, seen := memlease.New(), all{}
		random := rand.New(rand.NewPCG(1, 2))
		var servers [4]*server
		for i := range servers {
			servers[i] = begin(t, store)
		}
		for range 300 {
			i := random.IntN(len(servers))
			s := servers[i]
			seen.add(t, s, s.take(t, 1+random.IntN(500)))
			if random.IntN(4) == 0 { // in the millisecond of the last ID
				s.kill()
				servers[i] = begin(t, store)
			}
			time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
		}
	})
}

// TestKnownBad shows that the tests find what users met: servers whose worker is set by hand, as other services do, make
// IDs twice.
func TestKnownBad(t *testing.T) {
	byHand := func(_ *supply.Config, g *supply.Generator, _ *link) { g.Recipe.Leased, g.Recipe.Worker = false, 1 }
	for name, design := range map[string]func(t *testing.T) (twice bool){
		"two servers with one worker": func(t *testing.T) bool {
			a, b, seen := begin(t, memlease.New(), byHand), begin(t, memlease.New(), byHand), all{}
			return seen.twice(a, a.take(t, 100)) != "" || seen.twice(b, b.take(t, 100)) != ""
		},
		"a restart within a millisecond": func(t *testing.T) bool {
			seen := all{}
			for range 2 {
				s := begin(t, memlease.New(), byHand)
				if seen.twice(s, s.take(t, 100)) != "" {
					return true
				}
				s.kill()
			}
			return false
		},
		"a restart with a clock that went back": func(t *testing.T) bool {
			var back atomic.Int64
			clock := func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
			seen := all{}
			for range 2 {
				s := begin(t, memlease.New(), byHand, clocked(clock))
				time.Sleep(time.Second)
				if seen.twice(s, s.take(t, 100)) != "" {
					return true
				}
				s.kill()
				back.Add(int64(time.Second))
			}
			return false
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				today()
				if !design(t) {
					t.Error("no ID comes twice")
				}
			})
		})
	}
}

// TestLeaf216RestartInsideReport: Leaf reports its time to ZooKeeper every 3 s. A server that restarts between two reports,
// with a clock that went back by less, accepts the clock and makes the last IDs again (Leaf 216).
//
// The record of a worker of Firn does not have the last time of its holder, but the end of the interval, which is always
// after the last ID.
func TestLeaf216RestartInsideReport(t *testing.T) {
	for _, stops := range []string{"kill", "stop"} {
		t.Run(stops, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				today()
				var back atomic.Int64
				clock := func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }
				store, seen := memlease.New(), all{}
				for range 20 {
					s := begin(t, store, few, clocked(clock))
					ids := s.take(t, 1)
					time.Sleep(2 * time.Second)
					ids = append(ids, s.take(t, 3000)...)
					seen.add(t, s, ids)
					if stops == "kill" {
						s.kill()
					} else {
						s.stop(t)
					}
					back.Add(int64(time.Second)) // less than Leaf's interval of reports
				}
			})
		})
	}
}

// TestPD4884LeaderReturns: a leader of PD resigned and came back. The leader answered from its memory before the saved
// timestamp was read, and the timestamps fell (tikv/pd 4884, 8836).
//
// A worker of Firn that changes hands and comes back never makes an ID below an earlier ID: the generator takes no interval
// that ends before the last.
func TestPD4884LeaderReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := memlease.New()
		held := begin(t, store, few) // the other worker of the pool
		held.take(t, 1)
		a, b := begin(t, store, few), (*server)(nil)
		last := string(a.take(t, 1000)[999*a.Size:])
		for range 5 {
			a.link.Down.Store(true) // a loses its worker, and does not know
			time.Sleep(2 * window)
			if ids, err := a.AppendBinary(t.Context(), nil, 1); !is(err, reason.Window) {
				t.Fatalf("%x, %v", ids, err)
			}
			b = begin(t, store, few)
			ids := b.take(t, 1000)
			if first := string(ids[:b.Size]); first <= last {
				t.Fatalf("b makes %x after %x", first, last)
			}
			last = string(ids[999*b.Size:])
			b.stop(t)
			a.link.Down.Store(false)
			var first string
			for began := time.Now(); first == ""; time.Sleep(time.Millisecond) { // a asks the store at once, and takes its worker again
				ids, err := a.AppendBinary(t.Context(), nil, 1000)
				switch {
				case err == nil:
					first = string(ids[:a.Size])
					if first <= last {
						t.Fatalf("a makes %x after %x", first, last)
					}
					last = string(ids[999*a.Size:])
				case time.Since(began) > 2*window:
					t.Fatal(err)
				}
			}
		}
	})
}

// TestVitess3116StaleBlockAfterFailover: a tablet of Vitess kept a block of a sequence when another tablet became the
// primary. After the way back, the tablet went on with the block, which the other had made meanwhile (Vitess 3116). In a
// partition, two tablets that both believed to be the primary did the same (5590).
//
// What a server of Firn holds ahead ends at a time, and not with a message: without the store, the server refuses from
// the end of its window on. Nobody else gets the worker before.
func TestVitess3116StaleBlockAfterFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store, seen := memlease.New(), all{}
		a := begin(t, store, few)
		seen.add(t, a, a.take(t, 100))
		held := begin(t, store, few) // the other worker of the pool
		seen.add(t, held, held.take(t, 100))
		time.Sleep(time.Minute)
		a.link.Down.Store(true) // the partition
		b := begin(t, store, few)
		b.Start()
		var last, first time.Duration // of a's last ID and b's first, since the partition began
		for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
			if ids, err := a.AppendBinary(t.Context(), nil, 10); err == nil {
				seen.add(t, a, ids)
				last = time.Since(began)
			}
			if b.Workers()[0].State == supply.Ready {
				seen.add(t, b, b.take(t, 10))
				if first == 0 {
					first = time.Since(began)
				}
			}
		}
		if last < 6*time.Second || first == 0 || first < last {
			t.Errorf("the last ID of a after %v, the first of b after %v", last, first)
		}
		a.link.Down.Store(false) // the way back
		b.stop(t)
		time.Sleep(time.Minute)
		seen.add(t, a, a.take(t, 1000))
	})
}

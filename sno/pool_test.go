package sno

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A pool gives each partition once, to any number of goroutines, and ends with the documented error. It never
// gives the partition of the package's own generator.
func TestPool(t *testing.T) {
	for _, start := range []uint16{0, 1, 12345, 65535} {
		p := pool{start: func() uint16 { return start }}
		const callers = 8
		var got [callers][]Partition
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for {
					partition, err := p.take()
					if err != nil {
						var exhausted *PartitionPoolExhaustedError
						if !errors.As(err, &exhausted) || partition != (Partition{}) {
							t.Errorf("%v, %v", partition, err)
						}
						return
					}
					got[i] = append(got[i], partition)
				}
			})
		}
		all.Wait()
		seen := map[Partition]bool{p.spare(): true}
		for _, partitions := range got {
			for _, partition := range partitions {
				if seen[partition] {
					t.Fatalf("start %d: %v was given twice, or is the spare", start, partition)
				}
				seen[partition] = true
			}
		}
		if len(seen) != MaxPartition+1 {
			t.Errorf("start %d: %d partitions with the spare, want 65536", start, len(seen))
		}
		if _, err := p.take(); err == nil {
			t.Error("a partition after the last")
		}
	}
}

// Generators without a snapshot have distinct partitions, also from the package's own generator.
func TestDefaultPartitions(t *testing.T) {
	seen := map[Partition]bool{New(0).Partition(): true}
	for range 50 {
		g := testkit.Must(NewGenerator(nil, nil))
		if p := g.Partition(); seen[p] || p != g.New(0).Partition() {
			t.Fatalf("%v is given twice", p)
		}
		seen[g.Partition()] = true
	}
}

// A generator with a given partition takes no partition from the pool, and neither does an error.
func TestPartitionsThatAreNotTaken(t *testing.T) {
	New(0) // the package's own generator takes no partition either
	before := partitions.taken.Load()
	early := func() time.Time { return time.Unix(Epoch, 0) }
	for _, c := range []struct {
		name    string
		config  Config
		refused error
	}{
		{"a partition of its own", Config{Snapshot: &GeneratorSnapshot{Partition: Partition{1}}}, nil},
		{"granted", Config{Leased: true}, nil},
		{"a pool of 2", Config{Snapshot: &GeneratorSnapshot{SequenceMin: 1, SequenceMax: 2}}, iderr.ErrConfig},
		{"a snapshot, and granted", Config{Snapshot: &GeneratorSnapshot{}, Leased: true}, iderr.ErrConfig},
		{"a clock before the epoch", Config{Clock: early}, ErrTimeRange},
	} {
		if g, err := NewGeneratorWith(c.config); !errors.Is(err, c.refused) || (g == nil) != (err != nil) {
			t.Errorf("%s: %v", c.name, err)
		}
		if taken := partitions.taken.Load(); taken != before {
			t.Fatalf("%s: %d partitions were taken", c.name, taken-before)
		}
	}
	if _, err := NewGeneratorWith(Config{}); err != nil || partitions.taken.Load() != before+1 {
		t.Errorf("%v, %d partitions were taken; want 1", err, partitions.taken.Load()-before)
	}
}

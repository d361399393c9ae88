package sno_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// TestSpecification checks the sentences of the published specification that no other test of the
// package checks. Each row has the words of the text.
func TestSpecification(t *testing.T) {
	if task := os.Getenv(specTask); task != "" {
		specChild(t, task)
		return
	}
	for _, row := range []struct {
		text  string
		check func(t *testing.T)
	}{
		{"16,384,000 IDs per second; 549,755,813,888,000 is the global pool per second", func(t *testing.T) {
			const perSecond = int(time.Second / sno.TimeUnit)
			testkit.Same(t, newHands(1000).generator(t, sno.GeneratorSnapshot{}).Cap()*perSecond, 16_384_000)
			pool := new(big.Int).Sub(intOf(sno.Last(at(1000))), intOf(sno.First(at(1000))))
			pool.Add(pool, big.NewInt(1)).Mul(pool, big.NewInt(int64(perSecond)))
			testkit.Same(t, pool.Int64(), 549_755_813_888_000)
		}},
		{"Its Partition is based on time and changes across restarts.", func(t *testing.T) {
			// Ruling: a partition drawn at random is as good as a partition drawn from the time. Three
			// processes have the same partition with a probability of 1 in 2^32.
			seen := map[string]bool{}
			for range 3 {
				seen[specProcess(t, "partition")] = true
			}
			if len(seen) < 2 {
				t.Errorf("all processes have the partitions %v", seen)
			}
		}},
		{"PartitionPoolExhaustedError gets returned when attempting to create more than MaxPartition (65535) Generators using the default configuration (eg. without snapshots).", func(t *testing.T) {
			specProcess(t, "pool") // of its own: the partitions of this process are for other tests
		}},
		{"NewWithTime generates a new ID using the given time for the timestamp. IDs generated with user-specified timestamps are exempt from the tick-tock mechanism and use a sequence separate from New()", func(t *testing.T) {
			h := newHands(1000)
			g := h.generator(t, sno.GeneratorSnapshot{Partition: sno.Partition{1, 2}})
			for i, u := range []int64{7, sno.MaxTimestamp, 1, 900, 1 << 38} {
				before := g.Snapshot()
				testkit.Same(t, g.NewWithTime(9, at(u).Add(sno.TimeUnit-1)), pack(u, 0, 9, 258, uint16(i)))
				testkit.Same(t, g.Snapshot(), before)
				if h.set(1000 - int64(i%2)); i < 2 {
					want(t, mustTry(t, g), h.unit(), i, 0) // the clock goes back, the other time line begins
				}
			}
		}},
		{"NewWithTime uses the package-level generator to generate a new ID using the given time for the timestamp.", func(t *testing.T) {
			id := sno.NewWithTime(9, at(5000).Add(time.Millisecond))
			testkit.Same(t, id, pack(5000, 0, 9, sno.New(0).Partition().AsUint16(), id.Sequence()))
			testkit.Same(t, sno.NewWithTime(9, at(5000)).Sequence(), id.Sequence()+1)
		}},
		{"Sequence pool bounds (inclusive). Can be given in either order - lower value will become lower bound.", func(t *testing.T) {
			g := newHands(1000).generator(t, sno.GeneratorSnapshot{SequenceMin: 14, SequenceMax: 10})
			if g.SequenceMin() != 10 || g.SequenceMax() != 14 {
				t.Errorf("the bounds are %d and %d", g.SequenceMin(), g.SequenceMax())
			}
		}},
		{"When SequenceMax is 0 and SequenceMin != 65535, SequenceMax will be set to 65535.", func(t *testing.T) {
			for given, low := range map[uint16]uint16{0: 0, 10: 10, 65_532: 65_532, 65_535: 0} {
				g := newHands(1000).generator(t, sno.GeneratorSnapshot{SequenceMin: given})
				if g.SequenceMin() != low || g.SequenceMax() != 65_535 {
					t.Errorf("of %d the bounds are %d and %d", given, g.SequenceMin(), g.SequenceMax())
				}
			}
		}},
		{"InvalidSequenceBoundsError gets returned when a Generator gets seeded with sequence boundaries which are invalid", func(t *testing.T) {
			for given, want := range map[sno.GeneratorSnapshot]sno.InvalidSequenceBoundsError{
				{SequenceMin: 12, SequenceMax: 10}:              {Min: 10, Max: 12},
				{SequenceMax: 2}:                                {Max: 2},
				{SequenceMin: 65_533}:                           {Min: 65_533, Max: 65_535},
				{SequenceMin: 10, SequenceMax: 13, Sequence: 9}: {Cur: 9, Min: 10, Max: 13}, // "but not underflow SequenceMin"
			} {
				g, err := sno.NewGenerator(&given, nil)
				bad, ok := errors.AsType[*sno.InvalidSequenceBoundsError](err)
				if !ok || g != nil || bad.Msg == "" {
					t.Errorf("%+v: %v, %v", given, g, err)
					continue
				}
				want.Msg = bad.Msg
				testkit.Same(t, *bad, want)
			}
			err := error(&sno.InvalidSequenceBoundsError{Cur: 11, Min: 22, Max: 33, Msg: "message"})
			testkit.Same(t, err.Error(), "sno: message: current 11, min 22, max 33")
		}},
	} {
		name, _, _ := strings.Cut(row.text, ".")
		t.Run(name, row.check)
	}
}

// specTask is the environment variable with the task of a child.
const specTask = "FIRN_SNO_SPECIFICATION"

// specProcess runs a task in another process, and returns the partition of its package-level
// generator.
func specProcess(t *testing.T, task string) string {
	t.Helper()
	child := exec.Command(testkit.Must(os.Executable()), "-test.run=^TestSpecification$")
	child.Env = append(os.Environ(), specTask+"="+task)
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	partition := regexp.MustCompile(`partition=\d+`).FindString(string(out))
	if partition == "" {
		t.Fatalf("no partition in %s", out)
	}
	return partition
}

func specChild(t *testing.T, task string) {
	p := sno.New(0).Partition()
	fmt.Printf("partition=%d\n", p.AsUint16())
	if task != "pool" {
		return
	}
	taken := map[sno.Partition]bool{p: true}
	for i := range 65_535 {
		g, err := sno.NewGenerator(nil, nil)
		if err != nil {
			t.Fatalf("generator %d: %v", i, err)
		}
		if taken[g.Partition()] {
			t.Fatalf("generator %d has the partition %v of another generator", i, g.Partition())
		}
		taken[g.Partition()] = true
	}
	g, err := sno.NewGenerator(nil, nil)
	if _, ok := errors.AsType[*sno.PartitionPoolExhaustedError](err); !ok || g != nil {
		t.Errorf("a generator more: %v, %v", g, err)
	}
	if _, err := sno.NewGenerator(&sno.GeneratorSnapshot{Partition: p}, nil); err != nil {
		t.Errorf("with a partition of its own: %v", err)
	}
}

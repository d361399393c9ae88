package batch_test

import (
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/engine/batch"
	"github.com/firn-id/firn/internal/engine/words"
)

// counter makes numbers from 1 to last, in runs of up to limit. All numbers are of one tick, until
// a call of later.
type counter struct {
	next, limit, last int
	runs              []int
	counted           int // less what was made
	word              words.Word
}

const mask = 1<<20 - 1

func (c *counter) seq(n int) iter.Seq2[int, error] {
	c.word.Open()
	return batch.Seq(n, &c.word, mask, c.make, func(n int) { c.counted += n })
}

// later acts as another caller that begins the next tick.
func (c *counter) later() { c.word.Pass(c.word.Last()&^mask + mask + 2) }

var errLast = errors.New("last")

func (c *counter) make(dst []int) (uint64, int, error) {
	n := min(len(dst), c.limit, c.last-c.next)
	if n <= 0 {
		return 0, 0, errLast
	}
	for i := range n {
		c.next++
		dst[i] = c.next
	}
	c.runs = append(c.runs, len(dst))
	floor := c.word.Last() &^ mask
	first, _, _, _ := c.word.Reserve(floor, 0, floor+mask, n)
	return first, n, nil
}

func TestSeq(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100, 5000} {
		for _, limit := range []int{1, 7, 1000} {
			c := &counter{limit: limit, last: 1 << 30}
			seen := 0
			for id, err := range c.seq(n) {
				if seen++; id != seen || err != nil {
					t.Fatalf("%d of %d: %d, %v", seen, n, id, err)
				}
			}
			if seen != n || c.next != n || c.counted != 0 {
				t.Errorf("%d of %d, %d were made and %d counted more", seen, n, c.next, c.counted)
			}
		}
	}
}

func TestSeqEnds(t *testing.T) {
	c := &counter{limit: 10, last: 25}
	seen := 0
	var last error
	for id, err := range c.seq(-1) {
		if last != nil {
			t.Fatal("it goes on after an error")
		}
		if last = err; err == nil {
			if seen++; id != seen {
				t.Fatalf("%d is %d", seen, id)
			}
		} else if id != 0 {
			t.Errorf("%d with an error", id)
		}
	}
	if seen != 25 || !errors.Is(last, errLast) {
		t.Errorf("%d IDs, then %v", seen, last)
	}
	c = &counter{limit: 10, last: 1 << 30}
	for id := range c.seq(-1) {
		if id == 50 {
			break
		}
	}
	if c.next < 50 || c.next > 64 || c.next+c.counted != 50 {
		t.Errorf("%d were made for 50, %d counted", c.next, c.next+c.counted)
	}
}

// A slow caller gets short runs, and a fast caller gets long runs.
func TestRunsAreAsLongAsTheCallerIsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counter{limit: 1000, last: 1 << 30}
		for id := range c.seq(-1) {
			switch {
			case id < 2000:
			case id < 2600:
				time.Sleep(time.Second)
			case id > 10_000:
				longest := 0
				for _, run := range c.runs[:20] {
					longest = max(longest, run)
				}
				shortest := longest
				for _, run := range c.runs {
					shortest = min(shortest, run)
				}
				if longest != 256 || shortest != 1 || c.runs[len(c.runs)-1] != 256 {
					t.Errorf("runs of %v", c.runs)
				}
				return
			}
		}
	})
}

// When another caller has begun a later tick, Seq drops the rest of a run, and still yields n IDs.
func TestRunEndsWithItsTick(t *testing.T) {
	c := &counter{limit: 1000, last: 1 << 30}
	const n = 5000
	seen, last, dropped := 0, 0, 0
	for id, err := range c.seq(n) {
		if err != nil || id <= last {
			t.Fatalf("%d after %d, %v", id, last, err)
		}
		last = id
		if seen++; seen%100 == 0 {
			c.later()
			dropped += c.next - last
			last = c.next // the last number made so far
		}
	}
	if seen != n || dropped == 0 || c.next != n+dropped || c.counted != -dropped {
		t.Errorf("%d IDs of %d; %d were made, %d dropped", seen, n, c.next, dropped)
	}
}

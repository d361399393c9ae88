package stats

import "github.com/HdrHistogram/hdrhistogram-go"

// A fill counts the ticks of workers by the share of the sequence that they use.
type fill struct {
	capacity uint64   // IDs of a worker in a tick
	ticks    []uint64 // by the shares
	ids      *sample  // of a tick
}

// shares are the upper bounds of the shares, in parts of the capacity: percent. A tick with a single ID has the
// share before the first, and a full tick the share behind the last.
var shares = []float64{1, 5, 10, 25, 50, 75, 90}

// Places of ticks that have no upper bound in shares.
var (
	single = 0
	below  = len(shares) + 1 // not full
	full   = len(shares) + 2
)

const fullName = "full"

func newFill(capacity int) fill {
	return fill{capacity: uint64(capacity), ticks: make([]uint64, full+1), ids: newSample()}
}

// add counts a tick of a worker with so many IDs.
func (f *fill) add(ids uint64) {
	f.ticks[f.place(ids)]++
	f.ids.add(ids)
}

// place returns the place of a tick with so many IDs.
func (f *fill) place(ids uint64) int {
	switch {
	case ids >= f.capacity:
		return full
	case ids == 1:
		return single
	}
	for i, percent := range shares {
		if float64(ids)*100 <= percent*float64(f.capacity) {
			return 1 + i
		}
	}
	return below
}

// A sample is numbers of IDs, whose quantiles are right in three digits.
type sample struct {
	numbers *hdrhistogram.Histogram
	most    int64
}

const largest = 1 << 40 // greater numbers of IDs count as this number

func newSample() *sample { return &sample{numbers: hdrhistogram.New(1, largest, 3)} }

// add adds a number of IDs.
func (s *sample) add(ids uint64) {
	n := int64(min(ids, largest))
	s.most = max(s.most, n)
	s.numbers.RecordValue(n) // no error: the number is in the range
}

// size returns how many numbers were added.
func (s *sample) size() int64 { return s.numbers.TotalCount() }

// atMost returns the least number that so many percent of the numbers do not exceed.
func (s *sample) atMost(percent float64) int64 {
	return min(s.numbers.ValueAtPercentile(percent), s.most) // the library rounds up
}

// Package batch hands out IDs one by one that are made in runs.
package batch

import (
	"iter"
	"time"

	"github.com/firn-id/firn/internal/tick"
)

const (
	maxRun  = 256              // IDs in a run
	slowRun = time.Millisecond // for a run to be used up
)

// Seq returns an iterator over n IDs of the generator of a word, or without end if n is
// negative. The bits in mask are the sequence of the word. fill fills the beginning of dst with
// a run of IDs, and returns the first one's word and how many they are, or an error if there are none.
//
// Runs are as long as the caller is fast. The first is one ID; each next one is twice as long, but
// half as long after one that took the caller long to use up. So a caller who takes his time
// gets IDs that are of that time.
//
// When another caller has an ID of a later tick, the rest of a run is dropped. So IDs of Seq are
// never of an earlier tick than an ID that the generator has made before they are yielded. A look at a
// clock for each ID would bound their age as well, and take as long as making an ID alone.
func Seq[ID any](n int, word *tick.Word, mask uint64, fill func(dst []ID) (uint64, int, error)) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		var ids [maxRun]ID
		above := ^mask
		size := 1
		for left := n; left != 0; {
			want := size
			if left > 0 {
				want = min(want, left)
			}
			began := time.Now()
			first, made, err := fill(ids[:want])
			if err != nil {
				var zero ID
				yield(zero, err)
				return
			}
			used := made
			for i, id := range ids[:made] {
				if !yield(id, nil) {
					return
				}
				if (word.Last()^first)&above != 0 {
					used = i + 1
					break
				}
			}
			if left > 0 {
				left -= used
			}
			if used < made || time.Since(began) > slowRun {
				size = max(size/2, 1)
			} else {
				size = min(size*2, maxRun)
			}
		}
	}
}

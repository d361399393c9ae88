// Package batch makes IDs in runs and hands them out one by one.
package batch

import (
	"iter"
	"time"

	"github.com/firn-id/firn/internal/engine/words"
)

const (
	maxRun  = 256              // most IDs in a run
	slowRun = time.Millisecond // a caller that takes longer for a run gets shorter runs
)

// Seq returns an iterator over n IDs of the generator of a word, or without end if n is negative.
// The bits in mask are the sequence of the word. The function fill fills the beginning of dst with
// a run of IDs in order. It returns the word of the first ID and the number of IDs, or an error. If a
// run goes on in a later tick, Seq drops what comes after the first ID.
//
// The function count counts IDs. Before a run, Seq takes back as many IDs as the run can have, by a
// negative number. After the run, Seq counts the IDs that it has yielded; if the loop panics, the run
// does not count.
//
// Runs are as long as the caller is fast. The first run is one ID. Each run is twice as long as the
// run before, or half as long if the caller took long for the run before. A slow caller therefore
// gets IDs of the present time.
//
// When another caller has an ID of a later tick, Seq drops the rest of a run. An ID of Seq is
// therefore never of an earlier tick than an ID that the generator made before Seq yields. A look
// at a clock for each ID would bound the age of IDs as well, but would take as long as making one
// ID alone.
func Seq[ID any](n int, word *words.Word, mask uint64, fill func(dst []ID) (uint64, int, error), count func(n int)) iter.Seq2[ID, error] {
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
			count(-want)
			first, made, err := fill(ids[:want])
			if err != nil {
				count(want)
				var zero ID
				yield(zero, err)
				return
			}
			used := made
			for i, id := range ids[:made] {
				if !yield(id, nil) {
					count(want - made + i + 1)
					return
				}
				if (word.Last()^first)&above != 0 {
					used = i + 1
					break
				}
			}
			count(want - made + used)
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

// Fill fills dst with IDs. The function some fills the beginning of its argument with a run of IDs, and
// returns the word of the first ID and the number of IDs, or an error. Fill returns the number of IDs,
// and an error if the number is less than len(dst).
func Fill[ID any](dst []ID, some func(dst []ID) (uint64, int, error)) (int, error) {
	for done := 0; ; {
		if done == len(dst) {
			return done, nil
		}
		_, run, err := some(dst[done:])
		if err != nil {
			return done, err
		}
		done += run
	}
}

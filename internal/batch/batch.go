// Package batch hands out IDs one by one that are made in runs.
package batch

import (
	"iter"
	"time"
)

const (
	most = 256              // IDs in a run
	long = time.Millisecond // for a run to be used up
)

// Seq returns an iterator over n IDs, or without end if n is negative. make fills the
// beginning of dst with a run of IDs and returns how many they are, or an error if there
// are none.
//
// Runs are as long as the caller is fast. The first is one ID; each next one is twice as long, but
// half as long after one that took the caller long to use up. So a caller who takes his time
// gets IDs that are of that time.
func Seq[ID any](n int, make func(dst []ID) (int, error)) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		var ids [most]ID
		size := 1
		for left := n; left != 0; {
			want := size
			if left > 0 {
				want = min(want, left)
			}
			began := time.Now()
			made, err := make(ids[:want])
			if err != nil {
				var none ID
				yield(none, err)
				return
			}
			for _, id := range ids[:made] {
				if !yield(id, nil) {
					return
				}
			}
			if left > 0 {
				left -= made
			}
			if time.Since(began) > long {
				size = max(size/2, 1)
			} else {
				size = min(size*2, most)
			}
		}
	}
}

package drivertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/firn-id/firn/lease/driver"
)

// batch creates entries at once, and reads them at once.
func batch(s *space) {
	h, other := s.open(), s.open()
	b, ok := h.(driver.Batcher)
	if !ok {
		s.Skip("the store is no driver.Batcher")
	}
	var entries []driver.Entry
	var keys []string
	for i := range b.Batch() {
		key := fmt.Sprintf("pool/%04d", i)
		entries, keys = append(entries, driver.Entry{Key: key, Value: []byte("new " + key)}), append(keys, key)
	}
	old := map[string]driver.Revision{}
	for _, i := range []int{1, len(keys) / 2, len(keys) - 1} {
		old[keys[i]] = s.put(other, keys[i], "old", driver.None)
	}
	for range 2 { // the second call creates nothing
		revs, err := b.CreateAll(s.Context(), entries)
		if err != nil || len(revs) != len(entries) {
			s.Fatalf("CreateAll has %d revisions of %d: %v", len(revs), len(entries), err)
		}
		for i, e := range entries {
			_, existed := old[e.Key]
			if existed != (revs[i] == driver.None) {
				s.Fatalf("CreateAll has revision %q of %s, which existed: %v", revs[i], e.Key, existed)
			}
			if !existed {
				old[e.Key] = revs[i]
				if i%50 == 0 {
					s.want(other, e.Key, string(e.Value), revs[i])
				}
			}
		}
	}
	s.want(other, keys[1], "old", old[keys[1]])
	old[keys[0]] = s.put(other, keys[0], "changed", old[keys[0]])

	shuffled := slices.Clone(keys[:min(len(keys)-1, driver.MaxGet)])
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	shuffled[0] = "pool/none"
	got, err := b.GetAll(s.Context(), shuffled)
	slices.Sort(shuffled)
	if err != nil || len(got) != len(shuffled)-1 {
		s.Fatalf("GetAll has %d entries of %d: %v", len(got), len(shuffled)-1, err)
	}
	for i, e := range got {
		if e.Key != shuffled[i] {
			s.Fatalf("GetAll has entry %s where %s should be", e.Key, shuffled[i])
		}
		s.want(other, e.Key, string(e.Value), e.Revision)
	}
	if got, err := b.GetAll(s.Context(), []string{"none", "pool/none"}); err != nil || len(got) > 0 {
		s.Errorf("GetAll of none has %d entries: %v", len(got), err)
	}

	ended, cancel := context.WithCancel(s.Context())
	cancel()
	good := driver.Entry{Key: "refused/0"}
	for name, test := range map[string]struct {
		ctx  context.Context
		bad  driver.Entry
		want error
	}{
		"a key":         {s.Context(), driver.Entry{Key: "Refused"}, driver.ErrKey},
		"a long value":  {s.Context(), driver.Entry{Key: "refused/1", Value: []byte(strings.Repeat("x", driver.MaxValue+1))}, driver.ErrKey},
		"an ended call": {ended, driver.Entry{Key: "refused/1"}, driver.ErrUnavailable},
	} {
		if _, err := b.CreateAll(test.ctx, []driver.Entry{good, test.bad}); !errors.Is(err, test.want) {
			s.Errorf("CreateAll with %s: %v; want an error that is %q", name, err, test.want)
		}
		s.wantNone(other, good.Key)
	}
	if _, err := b.GetAll(s.Context(), []string{"a", "A"}); !errors.Is(err, driver.ErrKey) {
		s.Errorf("GetAll of a wrong key: %v", err)
	}
	batchRace(s)
}

// batchRace has several handles create the same entries: each is created once.
func batchRace(s *space) {
	const handles = 4
	type made struct {
		value string
		rev   driver.Revision
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	created := make(map[string][]made)
	for n := range handles {
		h := s.open()
		b := h.(driver.Batcher)
		all.Go(func() {
			var entries []driver.Entry
			for i := range min(b.Batch(), 50) {
				entries = append(entries, driver.Entry{Key: fmt.Sprintf("race/%02d", (i+n)%50), Value: []byte(fmt.Sprint("of ", n))})
			}
			revs, err := b.CreateAll(s.Context(), entries)
			if err != nil {
				s.Errorf("CreateAll: %v", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for i, rev := range revs {
				list := created[entries[i].Key]
				if rev != driver.None {
					list = append(list, made{string(entries[i].Value), rev})
				}
				created[entries[i].Key] = list
			}
		})
	}
	all.Wait()
	h := s.open()
	for key, by := range created {
		if len(by) != 1 {
			s.Fatalf("%s was created %d times", key, len(by))
		}
		s.want(h, key, by[0].value, by[0].rev)
	}
}

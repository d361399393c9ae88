package drivertest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/firn-id/firn/lease/driver"
)

func list(s *space) {
	h, other := s.open(), s.open()
	// The keys are in the order of bytes, unlike folders and words of a language. Some keys look
	// like a store's own files.
	names := []string{
		"a-b", "a-c/d", "a.b", "a.lock", "a.tmp", "a/b", "a/b-1", "a/b-2/c", "a/b1", "a/b10", "a/b2", "a/c/d/e", "a0", "a@b", "a_b", "a_c/d",
		"aa", "axb", "b", "b.lock", "b.tmp", "b0", "c/b",
	}
	if !slices.IsSorted(names) {
		s.Fatal("the test's own keys are out of order")
	}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(names)) {
		rev := s.put(h, names[i], "old", driver.None)
		if i%3 == 0 {
			s.put(h, names[i], "new "+names[i], rev)
		}
	}
	for _, prefix := range []string{
		"", "a", "a/", "a/b", "a/b/", "a/b1", "a/b10", "a/b100", "a/c", "a/c/", "a-", "a.", "a_", "a@", "ab", "b", "b/", "c/b", "d",
		"A", "%", "a%", "*", "a*", "a?b", ".", "..", "../", "/", "//", "a//", "a/../", "\x00", "\xff", "é", strings.Repeat("k", 100),
	} {
		var want []string
		for _, name := range names {
			if strings.HasPrefix(name, prefix) {
				want = append(want, name)
			}
		}
		// No key begins with these prefixes. A store may also return an error.
		if driver.CheckKey(prefix+"a") != nil {
			if _, err := h.List(s.Context(), prefix); errors.Is(err, driver.ErrKey) {
				continue
			}
		}
		s.wantList(h, prefix, want)
		s.wantList(other, prefix, want)
	}
}

// nested has keys that begin with other keys, as files in folders cannot.
func nested(s *space) {
	h, other := s.open(), s.open()
	made := make(map[string]driver.Revision)
	for _, key := range []string{"a", "a/b", "a/b/c", "d/e/f", "d/e", "d"} {
		s.wantNone(h, key)
		if len(made) > 0 {
			s.refuse(h, key, "x", made["a"], driver.ErrConflict)
		}
		made[key] = s.put(h, key, "old", driver.None)
		made[key] = s.put(h, key, key, made[key])
	}
	for key, rev := range made {
		s.want(other, key, key, rev)
	}
	s.wantList(h, "", []string{"a", "a/b", "a/b/c", "d", "d/e", "d/e/f"})
	s.wantList(h, "a", []string{"a", "a/b", "a/b/c"})
	s.wantList(h, "a/", []string{"a/b", "a/b/c"})
	s.wantList(h, "d/e", []string{"d/e", "d/e/f"})
}

// listMany has more entries than some servers return in one answer.
func listMany(s *space) {
	const many, writers = 300, 30
	hs := []driver.Store{s.open(), s.open()}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < many; i += writers {
				key := fmt.Sprintf("pool/%04d", i)
				if _, err := hs[w%2].Put(s.Context(), key, []byte(key), driver.None); err != nil {
					s.Errorf("Put(%s): %v", key, err)
				}
			}
		})
	}
	all.Wait()
	list, err := hs[0].List(s.Context(), "pool/")
	if err != nil || len(list) != many {
		s.Fatalf("List has %d entries of %d: %v", len(list), many, err)
	}
	for i, e := range list {
		if want := fmt.Sprintf("pool/%04d", i); e.Key != want || string(e.Value) != want {
			s.Fatalf("entry %d is %s with %s, want %s", i, e.Key, brief(e.Value), want)
		}
	}
}

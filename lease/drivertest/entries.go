package drivertest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

func missing(s *space) {
	h := s.open()
	s.wantNone(h, "a")
	s.wantList(h, "", nil)
	// No revision is the revision of a missing entry: Put at any revision creates nothing.
	rev := s.put(h, "b", "x", driver.None)
	s.refuse(h, "a", "y", rev, driver.ErrConflict)
	s.wantNone(h, "a")
	s.wantList(h, "", []string{"b"})
}

func create(s *space) {
	h := s.open()
	rev := s.put(h, "a", "x", driver.None)
	s.want(h, "a", "x", rev)
	s.refuse(h, "a", "y", driver.None, driver.ErrConflict)
	s.refuse(h, "a", "x", driver.None, driver.ErrConflict) // even with the same value
	s.want(h, "a", "x", rev)
}

func swap(s *space) {
	h := s.open()
	first := s.put(h, "a", "x", driver.None)
	second := s.put(h, "a", "y", first)
	s.want(h, "a", "y", second)
	s.refuse(h, "a", "z", first, driver.ErrConflict)
	s.refuse(h, "a", "z", driver.None, driver.ErrConflict)
	third := s.put(h, "a", "y", second) // the same value is a change
	s.want(h, "a", "y", third)
	s.refuse(h, "a", "z", second, driver.ErrConflict)
}

// revisions changes an entry to and fro, by two handles.
func revisions(s *space) {
	hs := []driver.Store{s.open(), s.open()}
	seen := []driver.Revision{driver.None}
	for i := range 20 {
		rev := s.put(hs[i/2%2], "a", []string{"x", "y"}[i%2], seen[i])
		for j, old := range seen {
			if rev == old {
				s.Fatalf("change %d has revision %q, which was that of change %d", i+1, rev, j)
			}
		}
		seen = append(seen, rev)
	}
	for i, old := range seen[:20] {
		s.refuse(hs[i%2], "a", "z", old, driver.ErrConflict)
	}
	s.want(hs[0], "a", "y", seen[20])
}

func otherRevision(s *space) {
	h := s.open()
	b := s.put(h, "b", "x", driver.None)
	a := s.put(h, "a", "x", driver.None)
	if a == b { // a store may count the revisions of each key
		a = s.put(h, "a", "x", a)
	}
	s.refuse(h, "b", "y", a, driver.ErrConflict)
	s.want(h, "b", "x", b)
}

func values(s *space) {
	h, other := s.open(), s.open()
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for i, value := range []string{
		"", "\x00", "x\x00y", "\n", "x\n", "\r\n", " x ", "\t", "null", "{}", `"`, "'", `\`, `\x00`, "%s", "\xff\xfe", "é", "\ufeff",
		string(every), strings.Repeat("\x00", driver.MaxValue), strings.Repeat("x", driver.MaxValue), strings.Repeat("\xff", driver.MaxValue),
	} {
		key := fmt.Sprintf("created/%d", i)
		s.want(other, key, value, s.put(h, key, value, driver.None))
		rev := s.put(h, "changed", "x", revisionOf(s, h, "changed"))
		s.want(other, "changed", value, s.put(h, "changed", value, rev))
		list, err := other.List(s.Context(), "changed")
		if err != nil || len(list) != 1 || string(list[0].Value) != value {
			s.Errorf("List of an entry with value %s: %v, %v", brief(value), list, err)
		}
	}
	rev := revisionOf(s, h, "changed")
	long := strings.Repeat("x", driver.MaxValue+1)
	s.refuse(h, "new", long, driver.None, driver.ErrKey)
	s.refuse(h, "changed", long, rev, driver.ErrKey)
	s.wantNone(other, "new")
}

// revisionOf returns the revision of an entry, or None.
func revisionOf(s *space, h driver.Store, key string) driver.Revision {
	s.Helper()
	e, err := h.Get(s.Context(), key)
	if err != nil && !errors.Is(err, driver.ErrNotFound) {
		s.Fatalf("Get(%s): %v", key, err)
	}
	return e.Revision
}

func keys(s *space) {
	h := s.open()
	// Some keys mean something else in a shell, an address, a pattern or a file system.
	valid := []string{"-", "@", "_", "0", "-rf", "a.", "a..b", "a/-", "a/b/c/d/e/f", "a_b-c@d.e/0", strings.Repeat("k", 100)}
	made := make(map[string]driver.Revision)
	for _, key := range valid {
		made[key] = s.put(h, key, key, driver.None)
	}
	for _, key := range []string{
		"", "/", "//", "/a", "a/", "a//b", ".", "..", ".a", "a/.b", "a/..", "../a", "A", "aB", "a b", " a", "a ", "a\n", "a\x00", "é", "\xff",
		"a%", "a*", "a?", "a[b]", "a:b", `a\b`, "a'b", `a"b`, "a,b", "a;b", "a=b", "a+b", "a#b", "a&b", "~a", "$a", "a|b",
	} {
		if e, err := h.Get(s.Context(), key); !errors.Is(err, driver.ErrKey) {
			s.Errorf("Get(%q) = %s, %v; want an error that is ErrKey", key, brief(e.Value), err)
		}
		for _, rev := range []driver.Revision{driver.None, made["0"]} {
			if rev, err := h.Put(s.Context(), key, []byte("x"), rev); !errors.Is(err, driver.ErrKey) {
				s.Errorf("Put(%q) = %q, %v; want an error that is ErrKey", key, rev, err)
			}
		}
	}
	for _, key := range valid {
		s.want(h, key, key, made[key])
	}
	if list, err := h.List(s.Context(), ""); err != nil || len(list) != len(valid) {
		s.Errorf("there are %d entries (%v) after %d valid Puts and some of invalid keys", len(list), err, len(valid))
	}
}

// copies changes every slice of bytes that goes into the store or comes out.
func copies(s *space) {
	h, other := s.open(), s.open()
	spoil := func(b []byte) { copy(b, bytes.Repeat([]byte("!"), len(b))) }
	value := []byte("first")
	rev, err := h.Put(s.Context(), "a", value, driver.None)
	if err != nil {
		s.Fatalf("Put: %v", err)
	}
	if string(value) != "first" {
		s.Errorf("Put changed its argument to %q", value)
	}
	spoil(value)
	for _, reader := range []driver.Store{h, other, h} {
		s.want(reader, "a", "first", rev)
		e, err := reader.Get(s.Context(), "a")
		if err != nil {
			s.Fatalf("Get: %v", err)
		}
		spoil(e.Value)
		s.want(reader, "a", "first", rev)
		list, err := reader.List(s.Context(), "a")
		if err != nil || len(list) != 1 || string(list[0].Value) != "first" {
			s.Fatalf("List: %v, %v", list, err)
		}
		spoil(list[0].Value)
		list[0] = driver.Entry{}
	}
	s.want(h, "a", "first", rev)
	s.want(other, "a", "first", rev)
	s.wantList(h, "a", []string{"a"})
}

package drivertest

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// handles has three handles take turns. Each handle sees the writes of other handles at once.
func handles(s *space) {
	hs := []driver.Store{s.open(), s.open()}
	for _, h := range hs {
		s.wantNone(h, "a")
		s.wantList(h, "", nil)
	}
	value := "x"
	rev := s.put(hs[0], "a", value, driver.None)
	hs = append(hs, s.open())
	for i := range 9 {
		for _, h := range hs {
			s.want(h, "a", value, rev)
			s.wantList(h, "", []string{"a"})
			s.refuse(h, "a", "y", driver.None, driver.ErrConflict)
		}
		old := rev
		value = fmt.Sprint(i)
		rev = s.put(hs[i%3], "a", value, old)
		for _, h := range hs {
			s.refuse(h, "a", "y", old, driver.ErrConflict)
		}
	}
}

func cancelled(s *space) {
	h, other := s.open(), s.open()
	rev := s.put(h, "a", "x", driver.None)
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Get":                func() error { _, err := h.Get(ctx, "a"); return err },
		"Get of nothing":     func() error { _, err := h.Get(ctx, "b"); return err },
		"List":               func() error { _, err := h.List(ctx, ""); return err },
		"Put":                func() error { _, err := h.Put(ctx, "a", []byte("y"), rev); return err },
		"Put of a new entry": func() error { _, err := h.Put(ctx, "b", []byte("y"), driver.None); return err },
	} {
		s.within(name, func() {
			if err := call(); !errors.Is(err, context.Canceled) {
				s.Errorf("%s with a cancelled context: %v, want an error that is context.Canceled", name, err)
			}
		})
	}
	s.want(other, "a", "x", rev)
	s.wantNone(other, "b")
	s.put(h, "a", "z", rev) // the handle still works
}

func closed(s *space) {
	h, other := s.fresh(), s.open()
	rev := s.put(h, "a", "x", driver.None)
	if err := h.Close(); err != nil {
		s.Errorf("Close: %v", err)
	}
	for name, call := range map[string]func() error{
		"Get":  func() error { _, err := h.Get(s.Context(), "a"); return err },
		"List": func() error { _, err := h.List(s.Context(), ""); return err },
		"Put":  func() error { _, err := h.Put(s.Context(), "a", []byte("y"), rev); return err },
	} {
		// A closed handle does not return an error that callers could take for an answer.
		if err := call(); err == nil || errors.Is(err, driver.ErrNotFound) || errors.Is(err, driver.ErrConflict) {
			s.Errorf("%s after Close: %v, want an error that is neither ErrNotFound nor ErrConflict", name, err)
		}
	}
	s.want(other, "a", "x", rev)
	s.want(s.open(), "a", "y", s.put(other, "a", "y", rev))
}

// reopen closes all handles, again and again: entries and revisions outlive the handles.
func reopen(s *space) {
	var seen []driver.Revision
	for i := range 5 {
		h := s.fresh()
		rev := driver.None
		if i > 0 {
			rev = seen[len(seen)-1]
			s.want(h, "a", "x", rev)
			s.wantList(h, "", []string{"a"})
		}
		for range 2 {
			rev = s.put(h, "a", "x", rev)
			for _, old := range seen {
				if rev == old {
					s.Fatalf("the store made revision %q, which it had made when it was open before", rev)
				}
			}
			seen = append(seen, rev)
		}
		if err := h.Close(); err != nil {
			s.Fatalf("Close: %v", err)
		}
	}
}

func address(s *space) {
	h, other := s.open(), s.open()
	before := h.String()
	if before == "" {
		s.Error("String is empty")
	}
	rev := s.put(h, "a", "x", driver.None)
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	texts := []string{h.String(), other.String()}
	for _, text := range texts {
		if text != before {
			s.Errorf("String was %q and is %q", before, text)
		}
	}
	for _, call := range []func() error{
		func() error { _, err := h.Get(s.Context(), "b"); return err },
		func() error { _, err := h.Get(s.Context(), "A"); return err },
		func() error { _, err := h.Put(s.Context(), "a", nil, driver.None); return err },
		func() error { _, err := h.Put(ctx, "a", nil, rev); return err },
	} {
		if err := call(); err != nil {
			texts = append(texts, err.Error())
		}
	}
	for _, text := range texts {
		if shown := secret(text, s.secrets); shown != "" {
			s.Errorf("%q shows the secret %q", text, shown)
		}
	}
}

var password = regexp.MustCompile(`(?i)\b(?:password|passwd|pwd|secret|token)=([^\s&]+)|://[^/\s:@]*:([^/\s@]+)@`)

// secret returns the secret in a text, or "". Secrets are the given strings, and any text in the
// place of a password that is not masked.
func secret(text string, secrets []string) string {
	for _, s := range secrets {
		if s != "" && strings.Contains(text, s) {
			return s
		}
	}
	for _, m := range password.FindAllStringSubmatch(text, -1) {
		if shown := m[1] + m[2]; strings.Trim(shown, "x*") != "" {
			return shown
		}
	}
	return ""
}

func clock(s *space) {
	c, ok := s.open().(driver.Clock)
	if !ok {
		s.Skip("the store has no time of its own")
	}
	if now, err := c.Now(s.Context()); err != nil || now.IsZero() {
		s.Errorf("Now: %v, %v", now, err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	if _, err := c.Now(ctx); !errors.Is(err, context.Canceled) {
		s.Errorf("Now with a cancelled context: %v, want an error that is context.Canceled", err)
	}
}

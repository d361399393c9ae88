package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// certain returns a store and a connection on which each call has one fault.
func certain(chances Chances) (*memlease.Store, *Store) {
	s := memlease.New()
	return s, New(s.Open(), rand.New(rand.NewPCG(1, 2)), chances)
}

// value returns the value of a key, or "none".
func value(t *testing.T, s driver.Store, key string) string {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if errors.Is(err, driver.ErrNotFound) {
		return "none"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(e.Value)
}

func TestLost(t *testing.T) {
	for _, test := range []struct {
		chances Chances
		value   string
		counts  Counts
	}{
		{Chances{LoseRequest: 1}, "none", Counts{LostRequests: 3}},
		{Chances{LoseReply: 1}, "x", Counts{LostReplies: 3}},
	} {
		s, f := certain(test.chances)
		ctx := t.Context()
		_, putErr := f.Put(ctx, "a", []byte("x"), driver.None)
		_, getErr := f.Get(ctx, "a")
		_, listErr := f.List(ctx, "")
		for _, err := range []error{putErr, getErr, listErr} {
			if !errors.Is(err, driver.ErrUnavailable) {
				t.Errorf("%+v: %v, want ErrUnavailable", test.chances, err)
			}
		}
		if got := value(t, s, "a"); got != test.value {
			t.Errorf("%+v: the value is %s, want %s", test.chances, got, test.value)
		}
		if got := f.Counts(); got != test.counts {
			t.Errorf("%+v: counted %+v, want %+v", test.chances, got, test.counts)
		}
	}
}

func TestLate(t *testing.T) {
	ctx := t.Context()
	s, f := certain(Chances{Late: 1})
	buf := []byte("x")
	if _, err := f.Put(ctx, "a", buf, driver.None); !errors.Is(err, driver.ErrUnavailable) {
		t.Fatalf("late Put: %v, want ErrUnavailable", err)
	}
	buf[0] = 'y' // the request is on its way as it was
	if got := value(t, s, "a"); got != "none" {
		t.Fatalf("the value is %s right after a late Put", got)
	}
	for range latest {
		f.Get(ctx, "b")
	}
	if got := value(t, s, "a"); got != "x" {
		t.Errorf("the value is %s after %d more calls, want x", got, latest)
	}

	f.Put(ctx, "b", []byte("x"), driver.None)
	f.Put(ctx, "c", []byte("x"), driver.None)
	testkit.Must(s.Put(ctx, "c", []byte("y"), driver.None))
	f.Deliver()
	if b, c := value(t, s, "b"), value(t, s, "c"); b != "x" || c != "y" {
		t.Errorf("the values are %s and %s, want x and y", b, c)
	}
	if got, want := f.Counts(), (Counts{Late: 3, Landed: 2}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func TestRepeat(t *testing.T) {
	ctx := t.Context()
	s, f := certain(Chances{Repeat: 1})
	var ok, conflicts int
	for i := range 100 {
		key := fmt.Sprint(i)
		switch rev, err := f.Put(ctx, key, nil, driver.None); {
		case err == nil && rev != driver.None:
			ok++
		case errors.Is(err, driver.ErrConflict):
			conflicts++
		default:
			t.Fatalf("a repeated Put: %q, %v", rev, err)
		}
		if got := value(t, s, key); got != "" {
			t.Fatalf("the value is %s after a repeated Put", got)
		}
	}
	f.Deliver()
	if ok == 0 || conflicts == 0 {
		t.Errorf("%d replies of the first Put, %d of the second; want some of both", ok, conflicts)
	}
	// Nothing repeated lands: the first of two took the revision.
	if got, want := f.Counts(), (Counts{Repeats: 100}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

func TestFaultyRepeatsItself(t *testing.T) {
	run := func() (string, Counts) {
		_, f := certain(Chances{LoseRequest: 0.1, LoseReply: 0.1, Late: 0.2, Repeat: 0.2, Delay: 0.5})
		var log strings.Builder
		for i := range 200 {
			e, err := f.Get(t.Context(), "a")
			log.WriteString(fmt.Sprintln(e, err))
			rev, err := f.Put(t.Context(), "a", fmt.Append(nil, i), e.Revision)
			log.WriteString(fmt.Sprintln(rev, err))
		}
		return log.String(), f.Counts()
	}
	log, counts := run()
	log2, counts2 := run()
	if log != log2 || counts != counts2 {
		t.Error("two runs with the same random numbers differ")
	}
	all := reflect.ValueOf(counts)
	for i := range all.NumField() {
		if all.Field(i).Int() == 0 {
			t.Errorf("none of %s: %+v", all.Type().Field(i).Name, counts)
		}
	}
}

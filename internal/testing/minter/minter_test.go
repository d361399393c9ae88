package minter

import (
	"errors"
	"testing"
	"time"
)

// TestGenerator has a generator do what lease.Generator asks for.
func TestGenerator(t *testing.T) {
	now := int64(1000)
	g := &Generator{clock: func() time.Time { return time.UnixMilli(now) }}
	grant := func(worker int, from, until int64) {
		if err := g.Grant(worker, time.UnixMilli(from), time.UnixMilli(until)); err != nil {
			t.Fatal(err)
		}
	}
	want := func(at int64, want ID, kind error) {
		t.Helper()
		now = at
		if id, err := g.TryNext(); id != want || !errors.Is(err, kind) {
			t.Errorf("at %d: %+v, %v; want %+v, %v", at, id, err, want, kind)
		}
	}
	refused := errors.New("refused")
	want(1000, ID{}, ErrEarly)
	grant(7, 1000, 1010)
	want(999, ID{}, ErrEarly)
	want(1000, ID{7, 1000, 0}, nil)
	want(1000, ID{7, 1000, 1}, nil)
	want(990, ID{7, 1000, 2}, nil) // the clock goes back
	want(1009, ID{7, 1009, 0}, nil)
	want(1010, ID{}, ErrEarly)
	g.Refuse(refused)
	want(1010, ID{}, refused)
	grant(7, 1005, 1020) // a part of the interval was granted before
	want(1010, ID{7, 1010, 0}, nil)
	grant(8, 1050, 1060) // after a gap
	want(1030, ID{}, ErrEarly)
	if unused := g.Withdraw(); unused.UnixMilli() != 1020 {
		t.Errorf("Withdraw = %v", unused)
	}
	want(1055, ID{}, ErrEarly)
	grant(8, 1050, 1060)
	want(1055, ID{8, 1055, 0}, nil)
	if unused := g.Withdraw(); unused.UnixMilli() != 1060 {
		t.Errorf("Withdraw of what was entered = %v", unused)
	}
	if unused := g.Seal(refused); unused.UnixMilli() != 1056 {
		t.Errorf("Seal = %v", unused)
	}
	grant(8, 1060, 1070)
	want(1060, ID{}, refused)
}

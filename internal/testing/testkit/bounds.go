package testkit

import (
	"context"
	"testing"
	"time"
)

// A Known is a generator with methods for its epoch and its times.
type Known[T ~int64] interface {
	Next(context.Context) (T, error)
	Epoch() time.Time
	Time(T) time.Time
	First(time.Time) T
	Last(time.Time) T
}

// Bounds checks the methods Epoch, Time, First and Last of a generator with the given epoch. The
// timestamp of an ID has the given number of bits above shift, and counts milliseconds.
func Bounds[T ~int64](t *testing.T, gen Known[T], epoch time.Time, bits, shift int) {
	t.Helper()
	if got := gen.Epoch(); got != epoch.UTC() {
		t.Errorf("the epoch is %v, want %v", got, epoch.UTC())
	}
	most := T(1)<<bits - 1
	end := func(timestamp T) time.Time { return time.UnixMilli(epoch.UnixMilli() + int64(timestamp)) }
	for _, v := range []struct {
		name      string
		at        time.Time
		timestamp T
	}{
		{"a year before the epoch", epoch.AddDate(-1, 0, 0), 0},
		{"just before the epoch", epoch.Add(-1), 0},
		{"the epoch", epoch, 0},
		{"the end of the epoch's millisecond", epoch.Add(time.Millisecond - 1), 0},
		{"the next millisecond", epoch.Add(time.Millisecond), 1},
		{"a second later", epoch.Add(time.Second), 1000},
		{"a time in another zone", epoch.Add(time.Hour).In(time.FixedZone("", 3600)), 3_600_000},
		{"the last millisecond but one", end(most - 1), most - 1},
		{"the last millisecond", end(most), most},
		{"the end of the last millisecond", end(most).Add(time.Millisecond - 1), most},
		{"after the last millisecond", end(most).Add(time.Millisecond), most},
		{"the far future", time.Unix(1<<55, 0), most},
		{"the far past", time.Unix(-1<<55, 0), 0},
	} {
		first, last := gen.First(v.at), gen.Last(v.at)
		if first != max(v.timestamp<<shift, 1) || last != (v.timestamp+1)<<shift-1 {
			t.Errorf("%s: First %#x and Last %#x, want the timestamp %#x", v.name, int64(first), int64(last), int64(v.timestamp))
		}
		want := end(v.timestamp).UTC()
		if a, b := gen.Time(first), gen.Time(last); a != want || b != want {
			t.Errorf("%s: First is of %v and Last of %v, want %v", v.name, a, b, want)
		}
	}

	before := time.Now().Truncate(time.Millisecond)
	id, err := gen.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after, at := time.Now(), gen.Time(id)
	if first, last := gen.First(at), gen.Last(at); id < first || id > last {
		t.Errorf("the ID %#x of %v is not within First %#x and Last %#x", int64(id), at, int64(first), int64(last))
	}
	if at.Before(before) || at.After(after) {
		t.Errorf("an ID made between %v and %v is of %v", before, after, at)
	}
}

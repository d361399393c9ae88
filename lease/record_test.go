package lease

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
)

func testLayout(workers int) grant.Layout {
	return grant.Layout{Format: "nanoflake", Epoch: time.UnixMilli(1_609_459_200_000).UTC(), Unit: time.Millisecond, Widths: []int{41, 10, 12}, Workers: workers}
}

func TestLayoutCheck(t *testing.T) {
	testkit.OK(t, checkLayout(testLayout(1)))
	for name, change := range map[string]func(*grant.Layout){
		"no format":          func(l *grant.Layout) { l.Format = "" },
		"a unit of 0":        func(l *grant.Layout) { l.Unit = 0 },
		"a unit of 1.5 µs":   func(l *grant.Layout) { l.Unit = 1500 },
		"no workers":         func(l *grant.Layout) { l.Workers = 0 },
		"a negative unit":    func(l *grant.Layout) { l.Unit = -time.Millisecond },
		"a negative workers": func(l *grant.Layout) { l.Workers = -1 },
	} {
		l := testLayout(4)
		change(&l)
		testkit.Is(t, checkLayout(l), ErrConfig, "a layout with %s", name)
	}
}

// Different layouts have different hashes, and different records.
func TestLayoutHash(t *testing.T) {
	seen := map[string]string{}
	for field, l := range otherLayouts() {
		if other, ok := seen[layoutHash(l)]; ok {
			t.Errorf("layouts that differ in %s and %s have the same hash", field, other)
		}
		seen[layoutHash(l)] = field
	}
}

// otherLayouts returns layouts that differ from the test's layout in one field, by the field, and
// the test's layout itself.
func otherLayouts() map[string]grant.Layout {
	layouts := map[string]grant.Layout{"nothing": testLayout(4)}
	for field, change := range map[string]func(*grant.Layout){
		"format":  func(l *grant.Layout) { l.Format = "sno" },
		"epoch":   func(l *grant.Layout) { l.Epoch = l.Epoch.Add(time.Millisecond) },
		"unit":    func(l *grant.Layout) { l.Unit = time.Microsecond },
		"widths":  func(l *grant.Layout) { l.Widths = []int{41, 11, 11} },
		"workers": func(l *grant.Layout) { l.Workers = 5 },
	} {
		l := testLayout(4)
		change(&l)
		layouts[field] = l
	}
	return layouts
}

func TestDecode(t *testing.T) {
	const whole = `"pool":"p","layout":"l","generation":1,"worker":7,"from_us":2,"until_us":3`
	for value, want := range map[string]error{
		"":                                 ErrDamaged,
		"{":                                ErrDamaged,
		"[]":                               ErrDamaged,
		`{}`:                               ErrVersion,
		`{"v":1,` + whole + `}`:            ErrVersion,
		`{"v":3,` + whole + `}`:            ErrVersion,
		`{"v":2,` + whole + `}`:            nil,
		`{"v":2,` + whole + `,"new":[1]}`:  nil,
		`{"v":2,` + whole + `,"holder":1}`: ErrDamaged,
		`{"v":2,"worker":7}`:               ErrDamaged,
		`{"v":2,` + whole + `} {}`:         ErrDamaged,
		`{"v":2,` + whole[:len(whole)-1]:   ErrDamaged,
		`{"v":2,` + whole + `.5}`:          ErrDamaged,
		`{"v":2,` + whole[:len(whole)-12] + `,"UNTIL_US":3}`: ErrDamaged,
	} {
		if err := decode([]byte(value), new(record)); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", value, err, want)
		}
	}
	fields, required := new(record).members()
	for _, m := range fields[1:required] {
		without := regexp.MustCompile(`,"`+m.name+`":[^,}]*`).ReplaceAllString(`{"v":2,`+whole+`}`, "")
		if err := decode([]byte(without), new(record)); !errors.Is(err, ErrDamaged) {
			t.Errorf("without %s: %v: %s", m.name, err, without)
		}
	}
}

// The members that a later version adds to a worker's record stay, whatever this version does with the
// record.
func TestOtherMembers(t *testing.T) {
	const others = `,"Until_us":1,"a\"b":{"x": [1, 2.50]},"new":null`
	store := memlease.New()
	change := func() {
		t.Helper()
		e := testkit.Must(store.Get(t.Context(), workerKey("p", 0)))
		value := bytes.Replace(e.Value, []byte("}\n"), []byte(others+"}\n"), 1)
		testkit.Must(store.Put(t.Context(), e.Key, value, e.Revision))
	}
	kept := func(when string) {
		t.Helper()
		e, err := store.Get(t.Context(), workerKey("p", 0))
		if want := strings.ReplaceAll(others, " ", "") + "}\n"; err != nil || !strings.HasSuffix(string(e.Value), want) {
			t.Errorf("%s: %s, %v", when, e.Value, err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, store, 1)
		_, l, _ := keep(t, p, clock, Config{})
		testkit.OK(t, l.Close())
		change()
		_, l, _ = keep(t, p, clock, Config{})
		kept("taken")
		l.lockWork()
		err := l.renew(t.Context())
		l.work.unlock()
		testkit.OK(t, err)
		kept("renewed")
		testkit.OK(t, l.Close())
		kept("given back")
		testkit.Must(RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now}))
		kept("recovered")
	})
}

func TestKeys(t *testing.T) {
	if key := workerKey("a/b", 7); key != "a/b/workers/00007" {
		t.Errorf("the key of worker 7 is %q", key)
	}
	for _, worker := range []int{0, 7, 65535, 100_000} {
		if got, ok := workerOf("p", workerKey("p", worker)); !ok || got != worker {
			t.Errorf("worker %d is read back as %d, %v", worker, got, ok)
		}
	}
	for _, key := range []string{"p/pool", "p/workers/", "p/workers/7", "p/workers/0000007", "p/workers/00007x", "q/workers/00007"} {
		if worker, ok := workerOf("p", key); ok {
			t.Errorf("%s is the key of worker %d", key, worker)
		}
	}
	if name, ok := poolOf("a/b/pool"); !ok || name != "a/b" {
		t.Errorf("%q, %v", name, ok)
	}
}

package lease

import (
	"context"
	"errors"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// A survey reads the store once, and reports every pool and every fault of a pool.
func TestSurvey(t *testing.T) {
	store, clock := memlease.New(), newTestClock()
	counting := newTraffic(store)
	if all, err := Survey(t.Context(), counting); len(all) > 0 || err != nil {
		t.Errorf("of nothing: %v, %v", all, err)
	}
	p := mustCreate(t, store, 5)
	l := testkit.Must(try(t, p, clock, Config{}))
	defer l.Close()
	for _, name := range []string{"a@1", "p.2", "p-2", "none"} {
		testkit.Must(Create(t.Context(), store, name, testLayout(3)))
	}
	put(t, store, "other/thing", []byte("x"))
	counting.counts()
	all, err := Survey(t.Context(), counting)
	if requests, _, _ := counting.counts(); err != nil || len(all) != 5 || requests != 1 {
		t.Fatalf("%d pools, by %d requests, %v", len(all), requests, err)
	}
	for i, want := range []string{"a@1", "none", "p", "p-2", "p.2"} {
		f := all[i]
		used, made := 0, 0
		if want == "p" {
			used, made = 1, 4
		}
		if f.Name != want || f.Err != nil || f.Pool.Name() != want || len(f.Workers) != used || f.Made != made {
			t.Errorf("pool %d is %+v, not %s with %d workers", i, f, want, used)
		}
	}
	put(t, store, "p/workers/00001", []byte("x"))
	put(t, store, "p-2/pool", []byte("x"))
	put(t, store, "gone/workers/00001", []byte("x"))
	if all, err = Survey(t.Context(), counting); err != nil || len(all) != 6 {
		t.Fatal(all, err)
	}
	for _, f := range all {
		want := map[string]error{"p": ErrDamaged, "p-2": ErrDamaged, "gone": ErrMissing}[f.Name]
		if !errors.Is(f.Err, want) || (f.Pool == nil) != (f.Name == "p-2" || f.Name == "gone") {
			t.Errorf("%s: %v, want %v", f.Name, f.Err, want)
		}
	}
	broken := &hooked{Store: store, before: func(string, string) error { return driver.ErrUnavailable }}
	testkit.Is(t, testkit.Err(Survey(t.Context(), broken)), driver.ErrUnavailable, "")
}

// A list may span several moments: a record made meanwhile is missing in the list.
func TestSurveyOfTwoMoments(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 5)
	entries := testkit.Must(store.List(t.Context(), ""))
	testkit.Must(p.grow(t.Context(), -1))
	e := testkit.Must(store.Get(t.Context(), poolKey("p")))
	entries[0] = e
	all, err := Survey(t.Context(), listed{store, entries})
	if err != nil || len(all) != 1 || all[0].Err != nil || all[0].Made != 4 {
		t.Errorf("%+v, %v", all, err)
	}
}

// listed is a store with a fixed list of all entries.
type listed struct {
	driver.Store
	entries []driver.Entry
}

func (l listed) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	if prefix == "" {
		return l.entries, nil
	}
	return l.Store.List(ctx, prefix)
}

// inspected is a store with an Inspector.
type inspected struct {
	driver.Store
	findings []driver.Finding
}

func (i inspected) Inspect(context.Context) ([]driver.Finding, error) { return i.findings, nil }

func TestInspect(t *testing.T) {
	if found, err := Inspect(t.Context(), memlease.New()); found != nil || err != nil {
		t.Errorf("a store that cannot tell: %v, %v", found, err)
	}
	found, err := Inspect(t.Context(), inspected{findings: []driver.Finding{{Loses: true, Text: "x"}}})
	if len(found) != 1 || !found[0].Loses || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}

package supply_test

import (
	"context"
	"testing"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/supply"
)

func TestAppend(t *testing.T) {
	store := memlease.New()
	var all []supply.Generator
	for _, f := range inspect.Formats() {
		all = append(all, supply.Generator{Name: f.Name(), Format: f, Workers: 1, Store: "memory",
			Recipe: shape.Recipe{Leased: f.Worker() != ""},
			Open:   func(context.Context) (driver.Store, error) { return store, nil }})
	}
	set, err := supply.New(supply.Config{Generators: all})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close(t.Context())
	for _, g := range set.All() {
		const n = 10_000
		ids, err := g.AppendBinary(t.Context(), nil, n)
		if err != nil || len(ids) != n*g.Size {
			t.Fatalf("%s: %d bytes, %v", g.Name, len(ids), err)
		}
		seen := map[string]bool{}
		for ; len(ids) > 0; ids = ids[g.Size:] {
			seen[string(ids[:g.Size])] = true
		}
		if len(seen) != n {
			t.Errorf("%s: %d different IDs of %d", g.Name, len(seen), n)
		}
		if g.Runs() {
			first, run, err := g.Run(t.Context(), 100)
			t.Log(g.Name, first, run, err, g.Workers()[0])
		}
		texts, err := g.AppendTexts(t.Context(), nil, 2, "", "\n")
		t.Logf("%s: %s %v", g.Name, texts, err)
	}
}

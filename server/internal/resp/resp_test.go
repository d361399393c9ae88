package resp

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/supply"
)

// newSet returns a generator for each format by its name. The generator nanoflake serves the keys order:*, too.
func newSet(t testing.TB) *supply.Set {
	t.Helper()
	store := memlease.New()
	var all []supply.Generator
	for _, f := range inspect.Formats() {
		g := supply.Generator{Name: f.Name(), Format: f, Workers: 1, Store: "memory", Recipe: shape.Recipe{Leased: f.Worker() != ""},
			Open: func(context.Context) (driver.Store, error) { return store, nil }}
		if g.Name == "nanoflake" {
			g.Keys = []string{"order:*"}
		}
		all = append(all, g)
	}
	set, err := supply.New(supply.Config{Generators: all})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close(context.Background()) })
	return set
}

// frameOf returns a command as clients send it.
func frameOf(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

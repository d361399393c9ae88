// Package supplytest makes generators for the tests of the server's protocols.
package supplytest

import (
	"context"
	"errors"
	"testing"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/supply"
)

// New returns a Set that the end of the test closes.
func New(t testing.TB, c supply.Config) *supply.Set {
	t.Helper()
	set, err := supply.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close(context.Background()) })
	return set
}

// Formats returns a generator for each format, by the format's name, nanoflake first. Formats that have workers lease so
// many from one store in memory.
func Formats(workers int) (all []supply.Generator) {
	store := memlease.New()
	for _, f := range inspect.Formats() {
		g := supply.Generator{Name: f.Name(), Format: f, Workers: 1, Store: "memory",
			Open: func(context.Context) (driver.Store, error) { return store, nil }}
		if f.Worker() != "" {
			g.Workers, g.Recipe.Leased = workers, true
		}
		all = append(all, g)
	}
	return all
}

// Down returns a generator of Nanoflakes whose store does not open.
func Down(name, why string) supply.Generator {
	f, _ := inspect.Lookup("nanoflake")
	return supply.Generator{Name: name, Format: f, Store: name, Recipe: shape.Recipe{Leased: true},
		Open: func(context.Context) (driver.Store, error) { return nil, errors.New(why) }}
}

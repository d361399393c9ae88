package pools

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// A countingStore counts the readings of each key.
type countingStore struct {
	driver.Store
	gets map[string]int
}

func (s *countingStore) Get(ctx context.Context, key string) (driver.Entry, error) {
	s.gets[key]++
	return s.Store.Get(ctx, key)
}

// TestCheckRecovery: a recovery of all pools looks each up once before it asks.
func TestCheckRecovery(t *testing.T) {
	store := &countingStore{memlease.New(), make(map[string]int)}
	for _, name := range []string{"nanoflake", "sno"} {
		_, layout, _ := formats.LayoutOf(name)
		testkit.OK(t, testkit.Err(lease.Create(t.Context(), store, name, layout)))
	}
	clear(store.gets)
	found, err := (&recoverFlags{all: true}).check(t.Context(), nil, store, nil, nil)
	var names []string
	for _, p := range found {
		names = append(names, p.name)
	}
	if want := map[string]int{"nanoflake/pool": 1, "sno/pool": 1}; err != nil || !slices.Equal(names, []string{"nanoflake", "sno"}) || !maps.Equal(store.gets, want) {
		t.Errorf("%q, %v: read %v, want %v", names, err, store.gets, want)
	}
}

package lease

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// Inspect returns findings about a store for operators, the worst finding first. It returns nothing
// if all is well, or if the store has no [driver.Inspector]. A finding with Loses set names a way
// to lose acknowledged changes; IDs may then be made twice. A finding with Blocks set names a change that
// leases need and the store refuses. Packages do not print: a program calls
// Inspect after opening a store.
func Inspect(ctx context.Context, store driver.Store) ([]driver.Finding, error) {
	inspector, ok := store.(driver.Inspector)
	if !ok {
		return nil, nil
	}
	return inspector.Inspect(ctx)
}

// Found is a pool found by Survey.
type Found struct {
	Name    string
	Pool    *Pool    // nil if the pool's record cannot be read
	Workers []Worker // the used workers in order; workers with unreadable records have an Err
	Made    int      // how many workers have records
	Err     error    // why the pool's record cannot be read, or the first Err of a worker
}

// Survey returns all pools of a store with their workers, in the order of names. It reads the whole
// store, and is for tools.
func Survey(ctx context.Context, store driver.Store) ([]Found, error) {
	entries, err := list(ctx, store, "")
	if err != nil {
		return nil, err
	}
	pools, workers := make(map[string]*driver.Entry), make(map[string][]driver.Entry)
	for i, e := range entries {
		name, rest, _ := strings.Cut(e.Key, "/")
		switch {
		case rest == "pool":
			pools[name] = &entries[i]
		case strings.HasPrefix(rest, "workers/"):
			workers[name] = append(workers[name], e)
		}
	}
	for name := range workers {
		if _, ok := pools[name]; !ok {
			pools[name] = nil
		}
	}
	all := make([]Found, 0, len(pools))
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		f := Found{Name: name}
		if f.Err = f.read(ctx, store, pools[name], workers[name]); f.Err != nil && ctx.Err() != nil {
			return all, f.Err
		}
		all = append(all, f)
	}
	return all, nil
}

func (f *Found) read(ctx context.Context, store driver.Store, pool *driver.Entry, workers []driver.Entry) error {
	if pool == nil {
		return orphaned(store, f.Name, len(workers))
	}
	r, err := decodePool(store, *pool)
	if err != nil {
		return err
	}
	f.Pool = newPool(store, f.Name, r)
	f.Made = r.count()
	all, _ := f.Pool.readings(r, workers)
	if f.Workers, err = usedOf(all, r.Floor); err != nil { // the list may span several moments: read this pool again
		f.Workers, f.Made, err = f.Pool.Workers(ctx)
	}
	return err
}

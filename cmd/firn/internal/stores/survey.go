package stores

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// FindingText returns the text of a finding, with the setting to use.
func FindingText(f driver.Finding) string {
	if f.Advice == "" {
		return f.Text
	}
	return f.Text + ": " + f.Advice
}

// InspectStore is lease.Inspect. Tests replace InspectStore.
var InspectStore = lease.Inspect

// Warn finds in the background how the store can lose changes. The returned function prints the
// warnings.
func Warn(ctx context.Context, s *cli.Streams, st *State, store driver.Store) (say func()) {
	const longest = time.Second // a store with servers away may take longer
	ctx, cancel := context.WithTimeout(ctx, longest)
	losses := make(chan []error, 1)
	go func() {
		var warnings []error
		found, _ := InspectStore(ctx, store) // doctor reports the error
		for _, f := range found {
			if f.Loses {
				warning := fmt.Errorf("warning: %s: %s", store, FindingText(f))
				warnings = append(warnings, cli.WithHints(warning, func() []string { return st.FindingHints(f) }))
			}
		}
		losses <- warnings
	}()
	return func() {
		defer cancel()
		select {
		case warnings := <-losses:
			for _, warning := range warnings {
				cli.Complain(s.Err, warning)
			}
		case <-ctx.Done():
		}
	}
}

// CheckOverlap looks for pools with the same IDs as the wanted pool. Such a pool, or an unreadable pool, is an
// error; if allowed is set, CheckOverlap warns instead.
func CheckOverlap(ctx context.Context, s *cli.Streams, st *State, store driver.Store, wanted grant.Spec, allowed bool) error {
	names, err := lease.Names(ctx, store)
	if err != nil {
		return st.Hint(err)
	}
	for _, name := range names {
		if name == wanted.Name || formats.OfTorture(name) {
			continue // lease.Create reports the pool itself
		}
		p, err := lease.Lookup(ctx, store, name)
		if errors.Is(err, lease.ErrNoPool) || err == nil && !formats.Alike(grant.Spec{Name: name, Layout: p.Layout()}, wanted) {
			continue
		}
		text := fmt.Sprintf("pool %s is for the same IDs as pool %s: the two can make the same ID", wanted.Name, name)
		hints := []string{"Use pool " + name + ".", "Do IDs of the two never meet?  Add --allow-overlap."}
		if err != nil {
			text = fmt.Sprintf("pool %s may be for the same IDs as pool %s, which cannot be read (%v)", wanted.Name, name, err)
			help := st.hints(lease.RemedyFor(err), err)
			hints = append(help[:min(len(help), 2)], hints[1])
		}
		if !allowed {
			return cli.WithHints(errors.New(text), func() []string { return hints })
		}
		cli.Complain(s.Err, errors.New("warning: "+text+", so their IDs must never meet"))
	}
	return nil
}

// ReadPool returns a pool and its used workers. With an error, ReadPool returns the readable part.
func ReadPool(ctx context.Context, store driver.Store, name string) (*lease.Pool, []lease.Worker, error) {
	p, err := lease.Lookup(ctx, store, name)
	if err != nil {
		return nil, nil, err
	}
	workers, _, err := p.Workers(ctx)
	return p, workers, err
}

// NoPool is the error for a missing pool.
func NoPool(name string, at Place, store driver.Store) error {
	where := cli.Plain(at.Dir)
	if store != nil && at.Dir == "" {
		where = store.String()
	}
	return &lease.PoolError{Pool: name, Err: fmt.Errorf("%w in %s", lease.ErrNoPool, where)}
}

// Survey returns the pools. Pools in files are read in turn: unreadable records of a pool do not
// hide other pools.
func Survey(ctx context.Context, store driver.Store, at Place) ([]lease.Found, error) {
	if at.Dir == "" {
		return lease.Survey(ctx, store)
	}
	names, err := lease.Names(ctx, store)
	var all []lease.Found
	for _, name := range names {
		f := lease.Found{Name: name}
		if f.Pool, f.Workers, f.Err = ReadPool(ctx, store, name); errors.Is(f.Err, lease.ErrNoPool) {
			continue // removed meanwhile
		}
		all = append(all, f)
	}
	return all, err
}

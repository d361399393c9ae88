package generator

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
)

// The generator makes IDs until With returns, in a pool that is there.
func TestWith(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ids")
	t.Setenv("FIRN_STORE", "file://"+filepath.ToSlash(dir))
	var gen *nanoflake.Generator
	use := func(ctx context.Context, g *nanoflake.Generator) error {
		gen = g
		_, err := g.Next(ctx)
		return err
	}
	if err := With(t.Context(), use); !errors.Is(err, filelease.ErrNoStore) || gen != nil {
		t.Errorf("without a store: %v", err)
	}
	store := testkit.Must(filelease.Open(dir))
	defer store.Close()
	wanted, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	testkit.OK(t, err)
	spec := testkit.Must(wanted.ForLease().Pool())
	testkit.OK(t, testkit.Err(lease.Create(t.Context(), store, "other", spec.Layout)))
	if err := With(t.Context(), use); !errors.Is(err, lease.ErrNoPool) || gen != nil {
		t.Errorf("without a pool: %v", err)
	}
	testkit.OK(t, testkit.Err(lease.Create(t.Context(), store, spec.Name, spec.Layout)))
	testkit.OK(t, With(t.Context(), use))
	if _, err := gen.Next(t.Context()); !errors.Is(err, lease.ErrClosed) {
		t.Errorf("after With: %v", err)
	}
}

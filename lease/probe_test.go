package lease

import (
	"context"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// blindStore takes every change, whatever the revision.
type blindStore struct{ driver.Store }

func (blindStore) Put(context.Context, string, []byte, driver.Revision) (driver.Revision, error) {
	return "1", nil
}

func TestCheckWrites(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 2)
	before, _ := store.List(t.Context(), "")
	if took, err := p.CheckWrites(t.Context()); err != nil || took < 0 {
		t.Errorf("%v, %v", took, err)
	}
	if after, _ := store.List(t.Context(), ""); len(after) != len(before) || after[0].Revision != before[0].Revision {
		t.Errorf("%v became %v", before, after)
	}
	blind := testkit.Must(Lookup(t.Context(), blindStore{store}, p.Name()))
	testkit.Is(t, testkit.Err(blind.CheckWrites(t.Context())), driver.ErrUnsafe, "")
}

package lease

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

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
	all := &hooked{Store: store, around: func(c call) error { // takes each change, whatever the revision
		if c.op == "put" {
			return nil
		}
		return c.do(c.ctx)
	}}
	blind := testkit.Must(Lookup(t.Context(), all, p.Name()))
	testkit.Is(t, testkit.Err(blind.CheckWrites(t.Context())), driver.ErrUnsafe, "")
}

package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// open is a store that stays open.
type open struct{ *memlease.Store }

func (open) Close() error { return nil }

// TestPlan: a plan says which pools a server finds, makes and misses, and leases nothing.
func TestPlan(t *testing.T) {
	store := memlease.New()
	tokens := filepath.Join(t.TempDir(), "tokens.toml")
	testkit.OK(t, os.WriteFile(tokens, []byte("[tokens.a]\ntoken = \"sixteen-bytes-at-least\"\n"), 0o600))
	broken, errOther := errors.New("broken"), errors.New("a pool of other IDs")
	c := Config{
		Tokens: tokens, TLS: TLS{Cert: "/nowhere", Key: "/nowhere"},
		Generators: []Generator{
			{Name: "exists", Format: "nanoflake", Workers: 3},
			{Name: "missing", Format: "nanoflake", Pool: "gone"},
			{Name: "made", Format: "nanoflake", Pool: "new", Create: true},
			{Name: "other", Format: "sno", Pool: "nanoflake", Store: "memory://other"},
			{Name: "none", Format: "sno", Store: "memory://none"},
			{Name: "broken", Format: "sno", Store: "memory://broken"},
			{Name: "free", Format: "ulidflake"},
		},
		OpenStore: func(_ context.Context, address string) (driver.Store, error) {
			switch address {
			case "memory://broken":
				return nil, broken
			case "memory://none":
				return nil, nil
			}
			return open{store}, nil
		},
	}
	made, err := c.generators()
	testkit.OK(t, err)
	_, spec, err := c.generator(&c.Generators[0])
	testkit.OK(t, err)
	testkit.OK(t, testkit.Err(lease.Create(t.Context(), store, "nanoflake", spec.Layout)))
	p, err := c.Plan(t.Context())
	testkit.OK(t, err)
	if p.Known != 1 || len(p.Faults) != 1 || !p.Expires.IsZero() || len(p.Makes) != len(made.Generators) {
		t.Errorf("%+v", p)
	}
	for i, want := range []struct {
		leases int
		pool   string
		exists bool
		err    error
	}{
		{3, "nanoflake", true, nil}, {1, "gone", false, lease.ErrNoPool}, {1, "new", false, nil},
		{1, "nanoflake", false, errOther}, {1, "sno", false, nil}, {1, "sno", false, broken}, {0, "", false, nil},
	} {
		g := p.Makes[i]
		if _, ok := errors.AsType[*lease.MismatchError](g.Err); ok {
			g.Err = errOther
		}
		if g.Leases != want.leases || g.PoolName != want.pool || g.Exists != want.exists || !errors.Is(g.Err, want.err) {
			t.Errorf("%s: %d workers of pool %s, exists %v, %v", g.Name, g.Leases, g.PoolName, g.Exists, g.Err)
		}
	}
	pool, err := lease.Lookup(t.Context(), store, "nanoflake")
	testkit.OK(t, err)
	if workers, _, err := pool.Workers(t.Context()); err != nil || len(workers) > 0 {
		t.Errorf("%d workers were leased, %v", len(workers), err)
	}
	if all, err := c.Leases(); err != nil || len(all) != 6 || all[0].PoolName != "nanoflake" {
		t.Errorf("%+v, %v", all, err)
	}
}

// behind is a store whose clock is an hour behind.
type behind struct{ open }

func (behind) Now(context.Context) (time.Time, error) { return time.Now().Add(-time.Hour), nil }

// TestPlanClock: a plan says that the pool contradicts the clock, unless the clock is trusted.
func TestPlanClock(t *testing.T) {
	store := behind{open{memlease.New()}}
	c := Config{Generators: []Generator{{Name: "g", Format: "nanoflake"}},
		OpenStore: func(context.Context, string) (driver.Store, error) { return store, nil }}
	_, spec, err := c.generator(&c.Generators[0])
	testkit.OK(t, err)
	testkit.OK(t, testkit.Err(lease.Create(t.Context(), store, "nanoflake", spec.Layout)))
	for _, trusts := range []bool{false, true} {
		c.Lease.TrustClock = trusts
		p, err := c.Plan(t.Context())
		testkit.OK(t, err)
		if g := p.Makes[0]; !g.Exists || errors.Is(g.Err, lease.ErrClockSkew) == trusts || trusts && g.Err != nil {
			t.Errorf("TrustClock %v: exists %v, %v", trusts, g.Exists, g.Err)
		}
	}
}

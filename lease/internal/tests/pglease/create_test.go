package pglease_test

import (
	"errors"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/pglease"
	"github.com/firn-id/firn/nanoflake"
)

// TestCreate: lease.Create on a new database makes the table, where the role may. Where the role may
// not, the table of an owner serves, and nothing else makes a table.
func TestCreate(t *testing.T) {
	conn := connect(t, given())
	g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		t.Fatal(err)
	}
	wanted, err := g.ForLease().Pool()
	if err != nil {
		t.Fatal(err)
	}
	name := schema(t, conn)
	addr := given("table=" + name + ".leases")
	owner := storetest.Open(t, pglease.Open, addr)
	for what, try := range map[string]func() error{
		"Start":        func() error { _, err := lease.Start(t.Context(), owner, g, lease.Config{Create: true}); return err },
		"OpenOrCreate": func() error { _, err := lease.OpenOrCreate(t.Context(), owner, "p", wanted.Layout); return err },
		"Open":         func() error { _, err := lease.Open(t.Context(), owner, "p", wanted.Layout); return err },
	} {
		storetest.Fails(t, what+" without a table", try(), driver.ErrRefused, "42P01")
	}

	poorRole := role(t, conn, "")
	poor := storetest.Open(t, pglease.Open, as(addr, poorRole))
	_, err = lease.Create(t.Context(), poor, "p", wanted.Layout)
	storetest.Fails(t, "Create by a user who may not", err, driver.ErrRefused, "42501", "remedy: permissions")

	if _, err := lease.Create(t.Context(), owner, "p", wanted.Layout); err != nil {
		t.Fatal(err)
	}
	if _, err := lease.Create(t.Context(), owner, "p", wanted.Layout); !errors.Is(err, lease.ErrPoolExists) {
		t.Errorf("Create again: %v, want ErrPoolExists", err)
	}
	grants, err := pglease.Grant(name+".leases", poorRole)
	if err != nil {
		t.Fatal(err)
	}
	run(t, conn, "%s", grants)
	if _, err := lease.Create(t.Context(), poor, "q", wanted.Layout); err != nil {
		t.Errorf("Create in a table of an owner: %v", err)
	}
	l, err := lease.Start(t.Context(), poor, g, lease.Config{Pool: "q"})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
}

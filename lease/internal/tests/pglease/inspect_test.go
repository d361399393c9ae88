package pglease_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/pglease"
)

func TestInspect(t *testing.T) {
	conn := connect(t, given())
	schema := schema(t, conn)
	addr := given("table=" + schema + ".leases")
	s := storetest.Open(t, pglease.Open, addr)
	storetest.FindingsLose(t, s, false, "there is no table "+schema+".leases")
	testkit.OK(t, s.Prepare(t.Context()))
	storetest.FindingsLose(t, s, false)
	run(t, conn, "ALTER TABLE %q.leases SET UNLOGGED", schema)
	storetest.FindingsLose(t, s, true, "is not logged")
	run(t, conn, "ALTER TABLE %q.leases SET LOGGED", schema)
	// Each change sets synchronous_commit for itself.
	storetest.FindingsLose(t, storetest.Open(t, pglease.Open, as(addr, role(t, conn, "SUPERUSER", "synchronous_commit = off"))), false)
}

package pglease_test

import (
	"os/exec"
	"testing"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/pglease"
)

// TestCopiedTable copies the rows to a table beside, and to one that takes the place of the first.
func TestCopiedTable(t *testing.T) {
	conn := connect(t, given())
	name := schema(t, conn)
	store := storetest.Prepare(t, pglease.Open, given("table="+name+".a"))
	drivertest.Copied(t, store, func() driver.Store {
		run(t, conn, `CREATE TABLE %[1]q.b (LIKE %[1]q.a INCLUDING ALL); INSERT INTO %[1]q.b SELECT * FROM %[1]q.a`, name)
		return storetest.Open(t, pglease.Open, given("table="+name+".b"))
	})
	rev := storetest.Put(t, store, "x", "old", driver.None)
	run(t, conn, `DROP TABLE %[1]q.b; CREATE TABLE %[1]q.b (LIKE %[1]q.a INCLUDING ALL); INSERT INTO %[1]q.b SELECT * FROM %[1]q.a;
		ALTER TABLE %[1]q.a RENAME TO c; ALTER TABLE %[1]q.b RENAME TO a`, name)
	for call, err := range storetest.Calls(t.Context(), store, rev) {
		testkit.Is(t, err, driver.ErrUnsafe, "%s of another table of the name", call)
	}
	storetest.Want(t, storetest.Open(t, pglease.Open, given("table="+name+".a")), "x", "old", rev) // nothing has changed there
	run(t, conn, `ALTER TABLE %[1]q.a RENAME TO b; ALTER TABLE %[1]q.c RENAME TO a`, name)
	storetest.Put(t, store, "x", "new", rev)
}

// TestTemplate makes a database from another, as createdb -T does.
func TestTemplate(t *testing.T) {
	conn := connect(t, given())
	name, addr := database(t, conn, "")
	original := storetest.Prepare(t, pglease.Open, addr)
	testkit.OK(t, minter.Create(t.Context(), original)) // a template often has a pool that was never used
	testkit.OK(t, original.Close())
	run(t, conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s'", name)
	_, addr = database(t, conn, "TEMPLATE "+name)
	_, _, err := minter.Start(t.Context(), storetest.Open(t, pglease.Open, addr), lease.Config{})
	testkit.Is(t, err, driver.ErrCopied, "a lease in the new database")
}

// TestDump moves the table to another server by a dump, as for an upgrade.
func TestDump(t *testing.T) {
	t.Parallel()
	old, upgraded := server(t, pgtest.Config{}), server(t, pgtest.Config{})
	drivertest.Copied(t, storetest.Prepare(t, pglease.Open, old.Address()), func() driver.Store {
		out, err := exec.CommandContext(t.Context(), "sh", "-ec", `pg_dump --dbname "$1" | psql -qX -v ON_ERROR_STOP=1 --dbname "$2"`,
			"sh", old.Address(), upgraded.Address()).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return storetest.Open(t, pglease.Open, upgraded.Address())
	})
}

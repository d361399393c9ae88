package pglease_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/pglease"
)

// given returns the address of the shared server, with settings added.
func given(settings ...string) string {
	return storetest.With(services.PostgreSQL.Address(), settings...)
}

// connect returns a connection beside the store.
func connect(t testing.TB, addr string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, addr)
	if err != nil {
		services.PostgreSQL.Missing(t, err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t testing.TB, conn *pgx.Conn, format string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), fmt.Sprintf(format, args...), pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf(format+": %v", append(args, err)...)
	}
}

// made drops schemas and users of the shared server. The text what is a name, and the statement that drops
// the schema or the user. The server may still execute a statement of a killed test, and make the schema
// after the drop. made therefore ends such statements first.
var made = undo.New("PostgreSQL", func(ctx context.Context, what string) error {
	conn, err := pgx.Connect(ctx, given())
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	name, drop, _ := strings.Cut(what, ": ")
	for busy := 1; busy > 0 && err == nil; {
		err = conn.QueryRow(ctx, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%"+
			name+"%'", pgx.QueryExecModeSimpleProtocol).Scan(&busy)
	}
	if err == nil {
		_, err = conn.Exec(ctx, drop, pgx.QueryExecModeSimpleProtocol)
	}
	return err
})

// schema returns a name for a schema, which is dropped after the test. The connection is to the server of
// the schema.
func schema(t testing.TB, _ *pgx.Conn) string {
	name := "Firn-test-" + strings.ToLower(rand.Text()[:10])
	made.AtEnd(t, fmt.Sprintf("%s: DROP SCHEMA IF EXISTS %[1]q CASCADE", name))
	return name
}

// role makes a user with attributes and defaults. The user is dropped after the test.
func role(t testing.TB, conn *pgx.Conn, attributes string, defaults ...string) string {
	name := "firn_test_" + strings.ToLower(rand.Text()[:10])
	made.AtEnd(t, fmt.Sprintf("%s: DO $$ BEGIN IF EXISTS (SELECT FROM pg_roles WHERE rolname = '%[1]s') THEN DROP OWNED BY %[1]s CASCADE; DROP ROLE %[1]s; END IF; END $$", name))
	run(t, conn, "CREATE ROLE %s LOGIN %s", name, attributes)
	for _, d := range defaults {
		run(t, conn, "ALTER ROLE %s SET %s", name, d)
	}
	return name
}

// database makes a database on the shared server, which is dropped after the test. It returns the address
// of the server with that database, and with settings added.
func database(t testing.TB, conn *pgx.Conn, attributes string, settings ...string) (name, addr string) {
	t.Helper()
	name = "firn_test_" + strings.ToLower(rand.Text()[:10])
	made.AtEnd(t, fmt.Sprintf("%s: DROP DATABASE IF EXISTS %[1]s WITH (FORCE)", name))
	run(t, conn, "CREATE DATABASE %s %s", name, attributes)
	u, err := url.Parse(given(settings...))
	testkit.OK(t, err)
	u.Path = "/" + name
	return name, u.String()
}

// as returns an address with another user.
func as(addr, user string) string {
	scheme, rest, _ := strings.Cut(addr, "://")
	return scheme + "://" + user + "@" + rest[strings.IndexByte(rest, '@')+1:]
}

// none is a revision of no entry.
const none driver.Revision = "1"

// spaces returns a function that makes fresh stores, each in a table of its own. See [storetest.Spaces] for
// handle.
func spaces(addr, schema string, handle func(t *testing.T, addr string) driver.Store) func(*testing.T) func() driver.Store {
	return storetest.Spaces(pglease.Open, func(n int64) string { return storetest.With(addr, fmt.Sprintf("table=%s.t%d", schema, n)) }, handle)
}

func TestStore(t *testing.T) {
	conn := connect(t, given())
	drivertest.Run(t, spaces(given("password=hunter2"), schema(t, conn), nil), storetest.Secret)
}

func TestLease(t *testing.T) {
	drivertest.RunLeases(t, spaces(given(), schema(t, connect(t, given())), nil))
}

// TestDefaults has a user with the worst defaults.
func TestDefaults(t *testing.T) {
	conn := connect(t, given())
	user := role(t, conn, "SUPERUSER", "default_transaction_isolation = 'serializable'", "default_transaction_deferrable = on",
		"synchronous_commit = off", "standard_conforming_strings = off", "backslash_quote = off", "bytea_output = 'escape'", "client_encoding = 'LATIN1'",
		"search_path = ''", "datestyle = 'SQL, DMY'", "timezone = 'Asia/Kathmandu'", "quote_all_identifiers = on", "enable_indexscan = off", "intervalstyle = 'iso_8601'",
		"extra_float_digits = -15", "lc_numeric = 'C'", "enable_bitmapscan = off", "row_security = off", "jit = off")
	drivertest.Run(t, spaces(as(given(), user), schema(t, conn), nil), storetest.Secret)
}

// newPool returns a pool of connections whose settings a function has changed.
func newPool(t testing.TB, addr string, configure func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(addr)
	testkit.OK(t, err)
	configure(config)
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	testkit.OK(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// A pooled store closes its pool.
type pooled struct {
	*pglease.Store
	pool *pgxpool.Pool
}

func (p pooled) Close() error {
	err := p.Store.Close()
	p.pool.Close()
	return err
}

func TestNew(t *testing.T) {
	conn := connect(t, given())
	drivertest.Run(t, spaces(given(), schema(t, conn), func(t *testing.T, addr string) driver.Store {
		addr, table, _ := strings.Cut(addr, "table=")
		pool := newPool(t, strings.TrimRight(addr, "?&"), pglease.Configure)
		s, err := pglease.New(t.Context(), pool, pglease.Options{Table: table, Timeout: wait.Patience})
		testkit.OK(t, err)
		return pooled{s, pool}
	}), storetest.Secret)
}

// TestRevisionsAfterRestore restores an old row. No later revision of the row comes again.
func TestRevisionsAfterRestore(t *testing.T) {
	conn := connect(t, given())
	schema := schema(t, conn)
	s := storetest.Prepare(t, pglease.Open, given("table="+schema+".leases"))
	rev := storetest.Put(t, s, "a", "0", driver.None)
	run(t, conn, "CREATE TABLE %q.backup AS SELECT * FROM %[1]q.leases", schema)
	seen := map[driver.Revision]bool{}
	for range 20 {
		rev = storetest.Put(t, s, "a", "1", rev)
		seen[rev] = true
	}
	run(t, conn, "DELETE FROM %q.leases; INSERT INTO %[1]q.leases SELECT * FROM %[1]q.backup", schema)
	e, err := s.Get(t.Context(), "a")
	testkit.OK(t, err)
	for rev := e.Revision; len(seen) < 40; seen[rev] = true {
		if rev = storetest.Put(t, s, "a", "2", rev); seen[rev] {
			t.Fatalf("revision %s is used again", rev)
		}
	}
	created := storetest.Put(t, s, "b", "0", driver.None)
	run(t, conn, "DELETE FROM %q.leases WHERE key = 'b'", schema)
	if again := storetest.Put(t, s, "b", "0", driver.None); again == created {
		t.Errorf("revision %s is used again", again)
	}
}

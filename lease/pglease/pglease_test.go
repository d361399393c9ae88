package pglease

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
)

// given returns the address of the server that the tests find, with settings added.
func given(settings ...string) string {
	addr := os.Getenv("FIRN_TEST_POSTGRES")
	if addr == "" {
		addr = "postgres://postgres@127.0.0.1:5432/test"
	}
	return with(addr, settings...)
}

func with(addr string, settings ...string) string {
	for _, s := range settings {
		if strings.Contains(addr, "?") {
			addr += "&" + s
		} else {
			addr += "?" + s
		}
	}
	return addr
}

// connect returns a connection for what tests do besides a store.
func connect(t testing.TB, addr string) *pgx.Conn {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, addr)
	if err != nil {
		if os.Getenv("FIRN_REQUIRE_SERVICES") == "1" {
			t.Fatalf("PostgreSQL is not there, and FIRN_REQUIRE_SERVICES=1: %v", err)
		}
		t.Skipf("PostgreSQL is not there; set FIRN_TEST_POSTGRES to where it is: %v", err)
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

// schema returns a name for a schema that is dropped after the test.
func schema(t testing.TB, conn *pgx.Conn) string {
	name := "Firn-test-" + strings.ToLower(rand.Text()[:10])
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), fmt.Sprintf("DROP SCHEMA IF EXISTS %q CASCADE", name)); err != nil {
			t.Errorf("drop schema: %v", err)
		}
	})
	return name
}

// role makes a user with some defaults, who is dropped after the test, and may do everything.
func role(t testing.TB, conn *pgx.Conn, attributes string, defaults ...string) string {
	name := "firn_test_" + strings.ToLower(rand.Text()[:10])
	run(t, conn, "CREATE ROLE %s LOGIN %s", name, attributes)
	t.Cleanup(func() {
		if _, err := conn.Exec(context.Background(), fmt.Sprintf("DROP OWNED BY %s; DROP ROLE %[1]s", name), pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Errorf("drop role: %v", err)
		}
	})
	for _, d := range defaults {
		run(t, conn, "ALTER ROLE %s SET %s", name, d)
	}
	return name
}

// as returns an address with another user.
func as(addr, user string) string {
	scheme, rest, _ := strings.Cut(addr, "://")
	return scheme + "://" + user + "@" + rest[strings.IndexByte(rest, '@')+1:]
}

func mustOpen(t testing.TB, addr string) *Store {
	t.Helper()
	s, err := Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// prepared opens a store with a table of its own.
func prepared(t testing.TB, addr string) *Store {
	t.Helper()
	s := mustOpen(t, addr)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func mustPut(t testing.TB, s *Store, key, value string, rev driver.Revision) driver.Revision {
	t.Helper()
	made, err := s.Put(t.Context(), key, []byte(value), rev)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// suite runs the suite for stores, with a table for each space.
func suite(t *testing.T, addr, schema string, open func(t *testing.T, addr string) driver.Store) {
	var tables atomic.Int64
	drivertest.Run(t, func(t *testing.T) func() driver.Store {
		addr := with(addr, fmt.Sprintf("table=%s.t%d", schema, tables.Add(1)))
		s, err := Open(t.Context(), addr)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		return func() driver.Store { return open(t, addr) }
	}, "hunter2")
}

func opened(t *testing.T, addr string) driver.Store {
	s, err := Open(t.Context(), addr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	conn := connect(t, given())
	suite(t, given("password=hunter2"), schema(t, conn), opened)
}

// TestDefaults is for a user whose defaults are as bad as can be.
func TestDefaults(t *testing.T) {
	conn := connect(t, given())
	user := role(t, conn, "SUPERUSER", "default_transaction_isolation = 'serializable'", "default_transaction_deferrable = on",
		"synchronous_commit = off", "standard_conforming_strings = off", "backslash_quote = off", "bytea_output = 'escape'", "client_encoding = 'LATIN1'",
		"search_path = ''", "datestyle = 'SQL, DMY'", "timezone = 'Asia/Kathmandu'", "quote_all_identifiers = on", "enable_indexscan = off", "intervalstyle = 'iso_8601'",
		"extra_float_digits = -15", "lc_numeric = 'C'", "enable_bitmapscan = off", "row_security = off", "jit = off")
	suite(t, as(given(), user), schema(t, conn), opened)
}

// A pooled store closes its pool.
type pooled struct {
	*Store
	pool *pgxpool.Pool
}

func (p pooled) Close() error {
	err := p.Store.Close()
	p.pool.Close()
	return err
}

func TestNew(t *testing.T) {
	conn := connect(t, given())
	suite(t, given(), schema(t, conn), func(t *testing.T, addr string) driver.Store {
		addr, table, _ := strings.Cut(addr, "table=")
		config, err := pgxpool.ParseConfig(strings.TrimRight(addr, "?&"))
		if err != nil {
			t.Fatal(err)
		}
		Configure(config)
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(t.Context(), pool, Options{Table: table})
		if err != nil {
			t.Fatal(err)
		}
		return pooled{s, pool}
	})
}

// A row that was put back to what it was has no revision again that it has had since.
func TestRevisionsAfterRestore(t *testing.T) {
	conn := connect(t, given())
	schema := schema(t, conn)
	s := prepared(t, given("table="+schema+".leases"))
	rev := mustPut(t, s, "a", "0", driver.None)
	run(t, conn, "CREATE TABLE %q.backup AS SELECT * FROM %[1]q.leases", schema)
	seen := map[driver.Revision]bool{}
	for range 20 {
		rev = mustPut(t, s, "a", "1", rev)
		seen[rev] = true
	}
	run(t, conn, "DELETE FROM %q.leases; INSERT INTO %[1]q.leases SELECT * FROM %[1]q.backup", schema)
	e, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for rev := e.Revision; len(seen) < 40; seen[rev] = true {
		if rev = mustPut(t, s, "a", "2", rev); seen[rev] {
			t.Fatalf("revision %s is used again", rev)
		}
	}
	created := mustPut(t, s, "b", "0", driver.None)
	run(t, conn, "DELETE FROM %q.leases WHERE key = 'b'", schema)
	if again := mustPut(t, s, "b", "0", driver.None); again == created {
		t.Errorf("revision %s is used again", again)
	}
}

package pglease_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/pglease"
)

func TestUnreachable(t *testing.T) {
	t.Parallel()
	c := connect(t, given()).Config()
	closed, silent := "postgres://me:hunter2@"+storetest.Gone(t)+"/db", storetest.Silent(t)
	storetest.Refused(t, pglease.Open, map[string][]string{
		closed: {"refused", "remedy: connect"},
		"postgres://me:hunter2@nowhere.invalid/db?timeout=3s":   {"nowhere.invalid", "remedy: address"},
		"postgres://me:hunter2@" + silent + "/db?timeout=300ms": {"no answer in time", "remedy: connect"},
		given("sslmode=verify-full"):                            {"remedy: address"}, // no TLS, or none to trust
	})
	if _, err := pglease.Open(t.Context(), closed); strings.Count(fmt.Sprint(err), "dial error") != 1 {
		t.Errorf("a closed port: %v; want the attempts with and without TLS told as one", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := pglease.Open(ctx, "postgres://me:hunter2@"+silent+"/db?timeout=1h")
	storetest.Fails(t, "a silent port", err, driver.ErrUnavailable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent port: %v, want an error that is context.DeadlineExceeded", err)
	}

	// A host that does not answer leaves time for the other hosts.
	s, err := pglease.Open(t.Context(), fmt.Sprintf("postgres://%s@%s,%s:%d/%s?timeout=4s&sslmode=disable", c.User, silent, c.Host, c.Port, c.Database))
	testkit.OK(t, err)
	s.Close()
}

func TestRefused(t *testing.T) {
	conn := connect(t, given())
	c := conn.Config()
	nothing := fmt.Sprintf("postgres://%s@%s/firn_test_nothing?sslmode=disable", c.User, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
	storetest.Refused(t, pglease.Open, map[string][]string{
		as(given(), "firn_test_nobody"): {"28000", "remedy: permissions"},
		nothing:                         {"3D000", "remedy: create"},
		as(given(), role(t, conn, "CONNECTION LIMIT 0")): {"53300", "remedy: settings"},
		given("options=-c%20nonsense=1"):                 {"42704", "remedy: address"},
	})
}

func TestTLS(t *testing.T) {
	conn := connect(t, given())
	var on string
	if err := conn.QueryRow(t.Context(), "SHOW ssl").Scan(&on); err != nil || on != "on" {
		t.Skipf("the server has no TLS: %s, %v", on, err)
	}
	for mode, want := range map[string]bool{"require": true, "disable": false} {
		application := "firn-test-tls-" + strings.ToLower(rand.Text()[:10])
		storetest.Open(t, pglease.Open, given("sslmode="+mode, "application_name="+application))
		var connections, secure int
		err := conn.QueryRow(t.Context(), "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = $1",
			application).Scan(&connections, &secure)
		if err != nil || connections == 0 || secure != connections && want || secure > 0 && !want {
			t.Errorf("with sslmode=%s, %d of %d connections have TLS: %v", mode, secure, connections, err)
		}
	}
}

func TestTable(t *testing.T) {
	conn := connect(t, given())
	schema := schema(t, conn)
	addr := given("table=" + schema + ".leases")
	s := storetest.Open(t, pglease.Open, addr)
	_, _, err := minter.Start(t.Context(), s, lease.Config{Create: true})
	storetest.Fails(t, "a lease, which makes no table", err, driver.ErrRefused, "42P01", "remedy: create")
	storetest.Unprepared(t, s, none, "42P01", schema+".leases", "remedy: create")
	testkit.OK(t, s.Prepare(t.Context()))
	rev := storetest.Put(t, s, "a", "x", driver.None)
	for range 3 { // does nothing
		testkit.OK(t, s.Prepare(t.Context()))
	}
	storetest.Want(t, s, "a", "x", rev)

	run(t, conn, "UPDATE %q.leases SET version = version + 1 WHERE key = '.schema'", schema)
	storetest.CallsFail(t, s, none, "a later version", driver.ErrVersion, "version 2", "remedy: version")
	run(t, conn, "UPDATE %q.leases SET version = version - 1 WHERE key = '.schema'", schema)
	if list, err := s.List(t.Context(), ""); err != nil || len(list) != 1 || string(list[0].Value) != "x" || list[0].Revision != rev {
		t.Errorf("calls that were refused have left %v: %v", list, err)
	}

	for what, columns := range map[string]string{
		"empty":         "key text PRIMARY KEY, version bigint, value bytea",
		"others":        "id int PRIMARY KEY, name text",
		"keys":          "key int PRIMARY KEY, version bigint, value bytea",
		"times":         "key text PRIMARY KEY, version timestamp, value bytea",
		"no-version":    "key text PRIMARY KEY, value bytea",
		"unconstrained": "key text, version text, value text",
	} {
		run(t, conn, "CREATE TABLE %q.%q (%s)", schema, what, columns)
		s := storetest.Open(t, pglease.Open, given("table="+schema+"."+what))
		storetest.CallsFail(t, s, none, "another table, "+what, driver.ErrRefused, schema+"."+what, "remedy: move")
		var rows int
		if err := conn.QueryRow(t.Context(), fmt.Sprintf("SELECT count(*) FROM %q.%q", schema, what)).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("another table, %s: has %d rows: %v", what, rows, err)
		}
	}
}

// TestPrepareRace has many stores make the schema and the table at once.
func TestPrepareRace(t *testing.T) {
	t.Parallel()
	conn := connect(t, given())
	for range 5 {
		schema := schema(t, conn)
		errs := make(chan error)
		const racers = 8
		for range racers {
			s := storetest.Open(t, pglease.Open, given("table="+schema+".leases"))
			go func() { errs <- s.Prepare(t.Context()) }()
		}
		for range racers {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPrivileges(t *testing.T) {
	conn := connect(t, given())
	schema := schema(t, conn)
	addr := given("table=" + schema + ".leases")
	user := role(t, conn, "")
	poor := storetest.Open(t, pglease.Open, as(addr, user))
	err := poor.Prepare(t.Context())
	storetest.Fails(t, "Prepare by a user who may not", err, driver.ErrRefused, "42501", "remedy: permissions")

	storetest.Prepare(t, pglease.Open, addr)
	for _, grant := range []string{"USAGE ON SCHEMA %q", "SELECT ON ALL TABLES IN SCHEMA %q", "INSERT ON ALL TABLES IN SCHEMA %q", "UPDATE ON ALL TABLES IN SCHEMA %q"} {
		_, err := poor.Put(t.Context(), "a", nil, driver.None)
		if strings.HasPrefix(grant, "UPDATE") {
			_, err = poor.Put(t.Context(), "a", nil, "1")
		}
		storetest.Fails(t, "without "+grant, err, driver.ErrRefused, "42501", "remedy: permissions")
		storetest.FindingBlocks(t, poor, "may not read and change")
		run(t, conn, "GRANT "+grant+" TO "+user, schema)
	}
	rev := storetest.Put(t, poor, "b", "x", driver.None)
	storetest.Put(t, poor, "b", "y", rev)
	for _, err := range []error{poor.Prepare(t.Context()), func() error { _, err := poor.List(t.Context(), ""); return err }()} {
		if err != nil {
			t.Error(err)
		}
	}
	storetest.FindingsLose(t, poor, false)
}

func TestReadOnly(t *testing.T) {
	conn := connect(t, given())
	addr := given("table=" + schema(t, conn) + ".leases")
	rev := storetest.Put(t, storetest.Prepare(t, pglease.Open, addr), "a", "x", driver.None)
	addr = as(addr, role(t, conn, "SUPERUSER", "default_transaction_read_only = on"))
	s := storetest.Open(t, pglease.Open, addr)
	for _, rev := range []driver.Revision{driver.None, rev, "7"} {
		_, err := s.Put(t.Context(), "a", []byte("y"), rev)
		storetest.Fails(t, "a read-only user, revision "+string(rev), err, driver.ErrUnavailable, "25006", "remedy: settings")
	}
	storetest.Want(t, s, "a", "x", rev)
	storetest.FindingBlocks(t, s, "transactions are read-only")
	_, err := pglease.Open(t.Context(), storetest.With(addr, "target_session_attrs=read-write"))
	storetest.Fails(t, "a read-only user, where another server is wanted", err, driver.ErrUnavailable, "read only", "remedy: settings")
}

// TestLocked has another client lock the table, and a row, for longer than the time-out of calls.
// The errors name the lock, and no connection stays behind and waits.
func TestLocked(t *testing.T) {
	t.Parallel()
	conn := connect(t, given())
	schema := schema(t, conn)
	addr := given("table="+schema+".leases", "application_name="+schema)
	s := storetest.Prepare(t, pglease.Open, addr)
	rev := storetest.Put(t, s, "a", "x", driver.None)
	var hasty *pglease.Store
	wait.Until(t, "a busy machine opens the store in time", func() bool {
		var err error
		hasty, err = pglease.Open(t.Context(), storetest.With(addr, "timeout=2s"))
		return err == nil
	})
	defer hasty.Close()
	for _, lock := range []string{"LOCK TABLE %q.leases", "SELECT FROM %q.leases WHERE key = 'a' FOR UPDATE"} {
		run(t, conn, "BEGIN; "+lock, schema)
		_, err := hasty.Put(t.Context(), "a", []byte("y"), rev)
		storetest.Fails(t, fmt.Sprintf(lock, schema), err, driver.ErrUnavailable, "55P03", "remedy: settings")
		var waiting int
		err = conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND state <> 'idle'", schema).Scan(&waiting)
		if err != nil || waiting > 0 {
			t.Errorf("%d connections are still waiting: %v", waiting, err)
		}
		run(t, conn, "COMMIT")
	}
	storetest.Put(t, s, "a", "y", rev)
}

// TestTooOld has a server that seems to be of an old version: the catalogue of a database has another current_setting.
func TestTooOld(t *testing.T) {
	_, addr := database(t, connect(t, given()), "")
	storetest.Prepare(t, pglease.Open, addr)
	run(t, connect(t, addr), "SET allow_system_table_mods = on; ALTER FUNCTION pg_catalog.current_setting(text) RENAME TO true_setting; "+
		"CREATE FUNCTION pg_catalog.current_setting(name text) RETURNS text LANGUAGE sql AS $$ SELECT CASE name "+
		"WHEN 'server_version' THEN '9.6.24' WHEN 'server_version_num' THEN '90624' ELSE pg_catalog.true_setting(name) END $$")
	s, err := pglease.Open(t.Context(), addr)
	storetest.Fails(t, fmt.Sprint("an old server: ", s), err, driver.ErrUnsafe, "PostgreSQL 9.6.24 is too old", "want 10 or later", "remedy: settings")
}

func TestUnwatched(t *testing.T) {
	connect(t, given())
	pool := newPool(t, given(), func(*pgxpool.Config) {})
	s, err := pglease.New(t.Context(), pool, pglease.Options{})
	storetest.Fails(t, fmt.Sprint("a pool without Configure: ", s), err, driver.ErrUnsafe, "pglease.Configure")
	_, err = pglease.New(t.Context(), pool, pglease.Options{Table: "a b"})
	storetest.Fails(t, "a bad table", err, driver.ErrUnavailable, `table "a b"`)
}

// TestClosedPool has the caller close the pool before the store.
func TestClosedPool(t *testing.T) {
	connect(t, given())
	pool := newPool(t, given(), pglease.Configure)
	s, err := pglease.New(t.Context(), pool, pglease.Options{})
	testkit.OK(t, err)
	testkit.OK(t, s.Close())
	if err := pool.Ping(t.Context()); err != nil {
		t.Errorf("Close of a store closed its caller's pool: %v", err)
	}
	s, err = pglease.New(t.Context(), pool, pglease.Options{})
	testkit.OK(t, err)
	pool.Close()
	_, err = s.Get(t.Context(), "a")
	storetest.Fails(t, "a closed pool", err, driver.ErrUnavailable, "closed")
}

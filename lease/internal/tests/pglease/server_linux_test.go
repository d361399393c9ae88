package pglease_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/internal/tests/histories"
	"github.com/firn-id/firn/lease/pglease"
)

// server returns a server of the test's own, in the full check alone.
func server(t testing.TB, c pgtest.Config) *pgtest.Server {
	t.Helper()
	services.Full(t)
	s, err := pgtest.Start(t.Context(), c)
	services.Need(t, err, pgtest.ErrMissing)
	t.Cleanup(func() { s.Close() })
	return s
}

func standby(t testing.TB, primary *pgtest.Server, name string, c pgtest.Config) *pgtest.Server {
	t.Helper()
	s, err := primary.Standby(t.Context(), name, c)
	services.Need(t, err, pgtest.ErrMissing)
	t.Cleanup(func() { s.Close() })
	return s
}

func bounce(t testing.TB, s *pgtest.Server, connections int, users ...string) *pgtest.Bouncer {
	t.Helper()
	b, err := s.Bounce(connections, users...)
	services.Need(t, err, pgtest.ErrMissing)
	t.Cleanup(func() { b.Close() })
	return b
}

func execute(t testing.TB, s *pgtest.Server, statements ...string) {
	t.Helper()
	testkit.OK(t, s.Exec(t.Context(), statements...))
}

func set(t testing.TB, s *pgtest.Server, name, value string) {
	t.Helper()
	testkit.OK(t, s.Set(t.Context(), name, value))
}

// scan returns the single value of a query.
func scan[T any](t testing.TB, s interface{ Address() string }, query string) (v T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.Address())
	testkit.OK(t, err)
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), query, pgx.QueryExecModeSimpleProtocol).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// TestBouncer runs the suite through a PgBouncer with fewer connections than clients. The defaults
// of the connections are the worst for a store.
func TestBouncer(t *testing.T) {
	t.Parallel()
	s := server(t, pgtest.Config{})
	execute(t, s, "CREATE ROLE odd LOGIN SUPERUSER", "ALTER ROLE odd SET default_transaction_isolation = 'serializable'",
		"ALTER ROLE odd SET synchronous_commit = off", "ALTER ROLE odd SET lock_timeout = '7777s'")
	b := bounce(t, s, 2, "odd")
	addr := as(b.Address(), "odd")
	drivertest.Run(t, spaces(addr, "suite", nil), storetest.Secret)

	// The PgBouncer has shared a connection among clients, and the store has left nothing on the
	// connection.
	one := bounce(t, s, 1, "odd")
	addr = as(one.Address(), "odd")
	mine := connect(t, storetest.With(addr, "default_query_exec_mode=simple_protocol"))
	run(t, mine, "SET idle_session_timeout = 123456789")
	st := storetest.Prepare(t, pglease.Open, addr)
	storetest.Put(t, st, "a", "x", driver.None)
	others := connect(t, storetest.With(addr, "default_query_exec_mode=simple_protocol"))
	var shared, isolation, commit, lock, statements string
	err := others.QueryRow(t.Context(), "SELECT current_setting('idle_session_timeout'), current_setting('transaction_isolation'), "+
		"current_setting('synchronous_commit'), current_setting('lock_timeout'), (SELECT count(*)::text FROM pg_prepared_statements)").
		Scan(&shared, &isolation, &commit, &lock, &statements)
	if err != nil || shared != "123456789ms" {
		t.Fatalf("two clients of the PgBouncer do not share a connection: %s, %v", shared, err)
	}
	if isolation != "serializable" || commit != "off" || lock != "7777s" || statements != "0" {
		t.Errorf("a store leaves on a connection: isolation %s, synchronous_commit %s, lock_timeout %s, %s prepared statements", isolation, commit, lock, statements)
	}

	// The server behind the PgBouncer is away for a while.
	s.Crash()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err = st.Put(ctx, "a", nil, "1")
	storetest.Fails(t, "a PgBouncer without a server", err, driver.ErrUnavailable)
	testkit.OK(t, s.Start(t.Context()))
	var e driver.Entry
	wait.Until(t, "the PgBouncer has a server again", func() bool {
		e, err = st.Get(t.Context(), "a")
		return err == nil
	})
	storetest.Put(t, st, "a", "y", e.Revision) // the change that failed may have been made since
}

// TestSynchronousCommit has a user with synchronous_commit off, and a server that writes to the
// disk at commits only. The server is killed: other changes are lost, and changes of a store are
// not.
func TestSynchronousCommit(t *testing.T) {
	t.Parallel()
	s := server(t, pgtest.Config{Settings: map[string]string{"synchronous_commit": "off"}})
	for what, addr := range map[string]string{"direct": s.Address(), "PgBouncer": bounce(t, s, 2).Address()} {
		addr := storetest.With(addr, "table=test."+strings.ToLower(what))
		st := storetest.Prepare(t, pglease.Open, addr)
		execute(t, s, "CREATE TABLE plain (x int)", "CHECKPOINT")
		var rev driver.Revision
		for range 10 {
			rev = storetest.Put(t, st, "a", "acknowledged", rev)
		}
		for _, process := range []string{"walwriter", "checkpointer", "background writer"} {
			if s.Suspend(process) != 1 {
				t.Fatalf("there is no %s", process)
			}
		}
		rev = storetest.Put(t, st, "a", "the last", rev)
		created := storetest.Put(t, st, "b", "created", driver.None)
		execute(t, s, "INSERT INTO plain VALUES (1)")
		s.Kill()
		testkit.OK(t, s.Start(t.Context()))
		if n := scan[int](t, s, "SELECT count(*) FROM plain"); n != 0 {
			t.Fatalf("%s: a plain change was not lost, so the test shows nothing", what)
		}
		st = storetest.Open(t, pglease.Open, addr)
		for key, want := range map[string]driver.Entry{"a": {Value: []byte("the last"), Revision: rev}, "b": {Value: []byte("created"), Revision: created}} {
			storetest.Want(t, st, key, string(want.Value), want.Revision)
		}
		execute(t, s, "DROP TABLE plain")
	}
}

// TestRestart has the server crash again and again while clients make random calls.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := server(t, pgtest.Config{})
	turn.Take(t)
	addr := storetest.With(s.Address(), "table=test.leases", "timeout=30s")
	storetest.Prepare(t, pglease.Open, addr)
	histories.Under(t, func() driver.Store { return storetest.Open(t, pglease.Open, addr) }, func() error {
		time.Sleep(300 * time.Millisecond) // in which some calls are made
		return s.Restart(t.Context())
	})
}

// A stoppable server stops all its processes, as happens on a machine without free memory, or on a
// virtual machine that moves.
type stoppable struct{ *pgtest.Server }

func (s stoppable) Resume() { s.Continue() }

func TestStopped(t *testing.T) {
	t.Parallel()
	s := server(t, pgtest.Config{})
	storetest.Faulty[*pglease.Store]{Server: stoppable{s}, Open: pglease.Open, None: none,
		Addr: func(settings ...string) string { return storetest.With(s.Address(), settings...) }}.Stopped(t)
}

// TestSynchronousStandby has changes wait for a standby that does not answer.
func TestSynchronousStandby(t *testing.T) {
	t.Parallel()
	primary := server(t, pgtest.Config{})
	second := standby(t, primary, "second", pgtest.Config{})
	following := func() {
		wait.Until(t, "the standby follows synchronously", func() bool {
			return scan[int](t, primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
		})
	}
	addr := storetest.With(primary.Address(), "table=test.leases")
	st := storetest.Prepare(t, pglease.Open, addr)
	set(t, primary, "synchronous_standby_names", "second")
	following()
	storetest.FindingsLose(t, st, false)
	rev := storetest.Put(t, st, "a", "x", driver.None)
	viaBouncer := storetest.Open(t, pglease.Open, storetest.With(bounce(t, primary, 2).Address(), "table=test.leases"))
	short := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	waiting := func() int {
		// The server shows the first 1024 bytes of a query. A superuser's change begins with this lock.
		return scan[int](t, primary, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%ROW EXCLUSIVE%'")
	}
	value := func() string {
		return scan[string](t, primary, "SELECT convert_from(value, 'UTF8') FROM test.leases WHERE key = 'a'")
	}

	// The end of a Put's time does not cancel the wait: nobody sees the change before the standby
	// has it.
	for what, by := range map[string]*pglease.Store{"direct": st, "PgBouncer": viaBouncer} {
		second.Stop()
		limit := 250 * time.Millisecond
		wait.Until(t, what+": a Put waits for the standby", func() bool {
			limit *= 2 // a busy machine may not come to the wait in the time
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			_, err := by.Put(ctx, "a", []byte(what), rev)
			storetest.Fails(t, what+": a Put that the standby does not have", err, driver.ErrUnavailable, "no answer in time")
			return waiting() == 1
		})
		for range 30 {
			if n, v := waiting(), value(); n != 1 || v == what {
				t.Fatalf("%s: %d transactions wait for the standby, and there is already %q", what, n, v)
			}
		}
		second.Continue()
		wait.Until(t, what+": the Put is made after all", func() bool { return value() == what })
		e, err := by.Get(t.Context(), "a")
		if err != nil || string(e.Value) != what {
			t.Fatalf("%s: there is %q, %v", what, e.Value, err)
		}
		rev = e.Revision
	}

	// If an administrator cancels the wait, the server acknowledges the change with a warning.
	second.Stop()
	done := make(chan error)
	go func() {
		_, err := st.Put(t.Context(), "a", []byte("cancelled"), rev)
		done <- err
	}()
	wait.Until(t, "the Put waits for the standby", func() bool { return waiting() == 1 })
	execute(t, primary, "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	storetest.Fails(t, "a Put whose wait is cancelled", <-done, driver.ErrUnavailable, "canceling wait for synchronous replication", "remedy: settings")
	if v := value(); v != "cancelled" {
		t.Fatalf("a plain read sees %q, so the test shows nothing", v)
	}
	// The change is now visible but not on the standby. A store does not return the change.
	unread := func(what string) {
		_, err := st.Get(short(), "a")
		storetest.Fails(t, what+": Get of what the standby does not have", err, driver.ErrUnavailable, "no answer in time")
		_, err = st.List(short(), "")
		storetest.Fails(t, what+": List of what the standby does not have", err, driver.ErrUnavailable, "no answer in time")
	}
	unread("a cancelled wait")
	// The same holds after a crash, which also ends the wait.
	testkit.OK(t, primary.Restart(t.Context()))
	if v := value(); v != "cancelled" {
		t.Fatalf("a plain read sees %q, so the test shows nothing", v)
	}
	unread("a restart")
	second.Continue()
	following()
	if e, err := st.Get(t.Context(), "a"); err != nil || string(e.Value) != "cancelled" {
		t.Errorf("with the standby there is %q, %v", e.Value, err)
	}

	second.Close()
	wait.Until(t, "the standby is gone", func() bool { return scan[int](t, primary, "SELECT count(*) FROM pg_stat_replication") == 0 })
	storetest.FindingBlocks(t, st, "no standby is connected")
}

// TestStandby has a primary with an asynchronous standby. The standby takes over in the end.
func TestStandby(t *testing.T) {
	t.Parallel()
	primary := server(t, pgtest.Config{})
	second := standby(t, primary, "second", pgtest.Config{})
	wait.Until(t, "the standby follows", func() bool {
		return scan[int](t, primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == 1
	})
	table := "table=test.leases"
	st := storetest.Prepare(t, pglease.Open, storetest.With(primary.Address(), table))
	rev := storetest.Put(t, st, "a", "x", driver.None)
	wait.Until(t, "the standby has the entry", func() bool {
		return scan[int](t, second, "SELECT count(*) FROM pg_tables WHERE tablename = 'leases'") == 1 &&
			scan[int](t, second, "SELECT count(*) FROM test.leases WHERE key = 'a'") == 1
	})

	// The settings that lose changes.
	const asynchronous = "asynchronous standbys (1, synchronous_standby_names is empty)"
	storetest.FindingsLose(t, st, true, asynchronous)
	execute(t, primary, "CREATE ROLE poor LOGIN", "GRANT USAGE ON SCHEMA test TO poor", "GRANT SELECT, INSERT, UPDATE ON test.leases TO poor")
	storetest.FindingsLose(t, storetest.Open(t, pglease.Open, as(storetest.With(primary.Address(), table), "poor")), true, asynchronous)
	set(t, primary, "fsync", "off")
	set(t, primary, "full_page_writes", "off")
	wait.Until(t, "fsync is off", func() bool { return scan[string](t, primary, "SHOW full_page_writes") == "off" })
	storetest.FindingsLose(t, st, true, "fsync is off", "full_page_writes is off", asynchronous)
	set(t, primary, "fsync", "on")
	set(t, primary, "full_page_writes", "on")

	// A standby is refused: at the connection or, behind a pool, in the transaction.
	_, err := pglease.Open(t.Context(), storetest.With(second.Address(), table))
	storetest.Fails(t, "a standby", err, driver.ErrUnavailable, "standby", "remedy: address")
	var to atomic.Int64 // the port that new connections go to
	pool := newPool(t, second.Address(), func(config *pgxpool.Config) {
		config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
			c.Port, c.Fallbacks = uint16(to.Load()), nil
			return nil
		}
		pglease.Configure(config)
	})
	to.Store(int64(second.Port()))
	_, err = pglease.New(t.Context(), pool, pglease.Options{Table: "test.leases"})
	storetest.Fails(t, "a standby, by a pool", err, driver.ErrUnavailable, "standby", "remedy: address")
	// New makes its checks on the primary. Later connections go to the standby.
	to.Store(int64(primary.Port()))
	pool.Reset()
	moved, err := pglease.New(t.Context(), pool, pglease.Options{Table: "test.leases"})
	testkit.OK(t, err)
	to.Store(int64(second.Port()))
	pool.Reset()
	_, err = moved.Get(t.Context(), "a")
	storetest.Fails(t, "Get on a standby", err, driver.ErrUnavailable, "standby", "remedy: address")
	_, err = moved.List(t.Context(), "")
	storetest.Fails(t, "List on a standby", err, driver.ErrUnavailable, "standby", "remedy: address")
	_, err = moved.Put(t.Context(), "a", nil, rev)
	storetest.Fails(t, "Put on a standby", err, driver.ErrUnavailable, "25006", "remedy: settings")
	storetest.FindingBlocks(t, moved, "the server is a standby")

	// With both hosts in the address, the store uses the primary.
	both := storetest.Open(t, pglease.Open, storetest.With(fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/postgres", second.Port(), primary.Port()), table, "sslmode=disable"))
	rev = storetest.Put(t, both, "a", "y", rev)
	wait.Until(t, "the standby has the change", func() bool {
		return scan[string](t, second, "SELECT convert_from(value, 'UTF8') FROM test.leases WHERE key = 'a'") == "y"
	})
	primary.Crash()
	_, err = both.Put(t.Context(), "a", []byte("z"), rev)
	storetest.Fails(t, "no primary, on a connection to the last one", err, driver.ErrUnavailable)
	_, err = both.Put(t.Context(), "a", []byte("z"), rev)
	storetest.Fails(t, "no primary", err, driver.ErrUnavailable, "standby", "remedy: address")
	testkit.OK(t, second.Promote(t.Context()))
	storetest.Put(t, both, "a", "z", rev)
}

// TestNewPassword: a store that is open takes a changed password from the file of its address.
func TestNewPassword(t *testing.T) {
	t.Parallel()
	s := server(t, pgtest.Config{HBA: []string{"host all ids 127.0.0.1/32 scram-sha-256"}})
	file := filepath.Join(t.TempDir(), "password")
	change := func(password string) {
		execute(t, s, "ALTER ROLE ids PASSWORD '"+password+"'", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ids'")
	}
	write := func(password string) { testkit.OK(t, os.WriteFile(file, []byte(password+"\n"), 0o600)) }
	execute(t, s, "CREATE ROLE ids LOGIN", "CREATE SCHEMA test AUTHORIZATION ids")
	change("old")
	write("old")
	st := storetest.Prepare(t, pglease.Open, storetest.With(as(s.Address(), "ids"), "table=test.leases", "password-file="+file))
	rev := storetest.Put(t, st, "a", "x", driver.None)

	change("new")
	refused := func() bool {
		_, err := st.Get(t.Context(), "a")
		return errors.Is(err, driver.ErrRefused)
	}
	wait.Until(t, "the old password is refused", refused) // after calls on connections that were ended
	testkit.OK(t, os.Remove(file))
	_, err := st.Get(t.Context(), "a")
	storetest.Fails(t, "without the file", err, driver.ErrRefused, "28P01", "remedy: permissions")
	write("new")
	storetest.Want(t, st, "a", "x", rev)
}

// TestHostilePath: a schema in the search_path adds operators to PostgreSQL's own, such as numeric * integer.
// The store runs no operator of the schema.
func TestHostilePath(t *testing.T) {
	s := server(t, pgtest.Config{})
	execute(t, s, pgtest.Hostile, "ALTER DATABASE postgres SET search_path = evil")
	if err := s.Exec(t.Context(), "SELECT extract(epoch FROM clock_timestamp()) * 1000000"); err == nil || !strings.Contains(err.Error(), "hostile: operator of numeric and int") {
		t.Fatalf("the schema is harmless: %v", err)
	}
	st := storetest.Prepare(t, pglease.Open, s.Address())
	rev := storetest.Put(t, st, "p/pool", "x", driver.None)
	storetest.Want(t, st, "p/pool", "y", storetest.Put(t, st, "p/pool", "y", rev))
	storetest.Lists(t, st, 1)
	if e, err := st.Confirm(t.Context(), "p/pool"); err != nil || string(e.Value) != "y" {
		t.Errorf("Confirm: %q, %v", e.Value, err)
	}
	if _, err := st.Now(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := st.Inspect(t.Context()); err != nil {
		t.Error(err)
	}
}

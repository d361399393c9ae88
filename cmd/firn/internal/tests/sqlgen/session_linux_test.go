package sqlgen_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/nanoflake"
)

// TestTransactions: rollbacks and savepoints give no ID back, in each isolation level, and columns
// take their defaults from the generator, in INSERT and COPY.
func TestTransactions(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn := open(t, addr)
	grant(t, conn, 7, 1, forever)
	do(t, conn, "CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT firn.next_nanoflake(), n int)")
	var ids []int64
	take := func(q interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	}) {
		t.Helper()
		var id int64
		if err := q.QueryRow(t.Context(), "INSERT INTO orders (n) VALUES ($1) RETURNING id", 1).Scan(&id); err != nil {
			t.Error(err)
		}
		ids = append(ids, id)
	}
	for _, level := range []pgx.TxIsoLevel{pgx.ReadCommitted, pgx.RepeatableRead, pgx.Serializable} {
		for range 3 {
			tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: level})
			testkit.OK(t, err)
			take(tx)
			inner, err := tx.Begin(t.Context()) // a savepoint
			testkit.OK(t, err)
			take(inner)
			inner.Rollback(t.Context())
			take(tx)
			if len(ids)%2 == 0 {
				tx.Rollback(t.Context())
			} else {
				testkit.OK(t, tx.Commit(t.Context()))
			}
			take(conn)
		}
	}
	do(t, conn, `DO $$ BEGIN
		BEGIN
			INSERT INTO orders (n) VALUES (2);
			RAISE 'no';
		EXCEPTION WHEN OTHERS THEN
			INSERT INTO orders (n) VALUES (3);
		END;
	END $$`)
	const copied = 20_000
	rows := make([][]any, copied)
	for i := range rows {
		rows[i] = []any{i}
	}
	if n, err := conn.CopyFrom(t.Context(), pgx.Identifier{"orders"}, []string{"n"}, pgx.CopyFromRows(rows)); err != nil || n != copied {
		t.Errorf("COPY: %d rows, %v", n, err)
	}
	do(t, conn, "PREPARE p AS SELECT firn.next_nanoflake()")
	for range 10 { // beyond the plans made for one call
		ids = takes(t, conn, ids, "EXECUTE p")
	}
	wantDistinct(t, ids)
	if !slices.IsSorted(ids) {
		t.Error("IDs do not increase")
	}
	if n := value[int](t, conn, "SELECT count(*) FROM orders"); n < copied {
		t.Errorf("%d rows", n)
	}
	fails(t, conn, "a negative number of IDs", "22023", "SELECT firn.next_nanoflakes(-1)")
	if got, err := some(t.Context(), conn, nil, "SELECT * FROM firn.next_nanoflakes(0)"); err != nil || len(got) != 0 {
		t.Errorf("no IDs: %v, %v", got, err)
	}
}

// TestOldSnapshot: a transaction with an old snapshot makes IDs in the old interval to its end, also
// after the row has another worker, and then has to begin again.
func TestOldSnapshot(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn, old := open(t, addr), open(t, addr)
	do(t, conn, fixedClock)
	grant(t, conn, 7, tick, tick+1000)
	do(t, old, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	ids := takes(t, old, nil, "SELECT firn.next_nanoflake()")
	grant(t, conn, 8, tick+10, tick+2000)
	pass(t, conn, 100)
	for _, c := range []*pgx.Conn{conn, old, conn} {
		ids = takes(t, c, ids, "SELECT firn.next_nanoflake()")
	}
	wantDistinct(t, ids)
	pass(t, conn, 1000)
	ids = takes(t, conn, ids, "SELECT firn.next_nanoflake()")
	_, err := old.Exec(t.Context(), "SELECT firn.next_nanoflake()")
	if state(err) != "NF003" || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("with an old snapshot: %v", err)
	}
	e, _ := errors.AsType[*pgconn.PgError](err)
	for _, remedy := range []string{"next_nanoflakes", "--window", "begin it again"} {
		if e != nil && !strings.Contains(e.Hint, remedy) {
			t.Errorf("the hint has not %q: %s", remedy, e.Hint)
		}
	}
	do(t, old, "ROLLBACK")
	ids = takes(t, old, ids, "SELECT firn.next_nanoflake()")
	wantDistinct(t, ids)
}

// TestReset: IDs were made far ahead of the clock. The two statements of docs/sql-generator.md take
// the generator back, and wait for transactions that may use the old interval.
func TestReset(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn, old := open(t, addr), open(t, addr)
	do(t, conn, fixedClock)
	const hour = 3_600_000
	pass(t, conn, hour)
	grant(t, conn, 7, tick+hour, tick+hour+1000)
	do(t, old, "BEGIN ISOLATION LEVEL REPEATABLE READ")
	ids := takes(t, old, nil, "SELECT firn.next_nanoflake()")
	pass(t, conn, -hour)
	fails(t, conn, "before the interval", "NF002", "SELECT firn.next_nanoflake()")
	steps := []string{"TRUNCATE firn.nanoflake_grant", "SELECT setval('firn.nanoflake_word', 0)"}
	text := document(t)
	for _, step := range steps {
		if !strings.Contains(text, step+";") {
			t.Errorf("docs/sql-generator.md has not: %s", step)
		}
	}
	do(t, conn, "SET lock_timeout = '50ms'")
	fails(t, conn, "beside an old transaction", "55P03", steps[0])
	do(t, conn, "RESET lock_timeout")
	do(t, old, "COMMIT")
	for _, step := range steps {
		do(t, conn, step)
	}
	grant(t, conn, 8, tick, tick+2000)
	ids = takes(t, old, ids, "SELECT * FROM firn.next_nanoflakes(100)")
	wantDistinct(t, ids)
	if last := ids[len(ids)-1] >> 22; last != tick {
		t.Errorf("an ID of tick %d, not %d", last, int64(tick))
	}
}

// document returns the document of the generator.
func document(t *testing.T) string {
	text, err := os.ReadFile("../../../../../docs/sql-generator.md")
	testkit.OK(t, err)
	return string(text)
}

// locks is the query for the number of advisory locks in a database.
const locks = `SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
	WHERE locktype = 'advisory' AND granted`

// TestCancelLocked: a call is cancelled while the call has the lock. Locks of the session would stay.
func TestCancelLocked(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn := open(t, addr)
	do(t, conn, fixedClock+gatedClock)
	grant(t, conn, 7, 1, forever)
	g := shut(t, addr)
	caller, result := g.call(t, "SELECT firn.next_nanoflake()")
	do(t, conn, fmt.Sprintf("SELECT pg_cancel_backend(%d)", caller.PgConn().PID()))
	if r, _ := wait.Receive(t, "the end of the call", result); state(r.err) != "57014" {
		t.Errorf("a cancelled call: %v", r.err)
	}
	g.open(t)
	if left := value[int](t, conn, locks); left != 0 {
		t.Errorf("%d locks are left", left)
	}
}

// TestRights: a role makes IDs by the two functions alone, and a role of a feed writes the interval
// alone.
func TestRights(t *testing.T) {
	s := sharedServer(t)
	addr := database(t, s, sqlgen.Up)
	conn := open(t, addr)
	app, appAddr := as(t, conn, addr, "app")
	feeder, feederAddr := as(t, conn, addr, "feed")
	text := document(t)
	for _, right := range rights {
		if !strings.Contains(text, right+";") {
			t.Errorf("docs/sql-generator.md has not: %s", right)
		}
		do(t, conn, strings.NewReplacer("firn_feed", feeder, "app", app).Replace(right))
	}
	do(t, conn, fmt.Sprintf("CREATE TABLE orders (id bigint PRIMARY KEY DEFAULT firn.next_nanoflake(), n int); GRANT INSERT ON orders TO %s", app))
	feed(t, feederAddr, t.TempDir())
	makes(t, addr)
	user := open(t, appAddr)
	do(t, user, "SELECT firn.next_nanoflake(), (SELECT count(*) FROM firn.next_nanoflakes(10)); INSERT INTO orders (n) VALUES (1)")
	for _, statement := range []string{
		"SELECT nextval('firn.nanoflake_word')", "SELECT setval('firn.nanoflake_word', 1)", "SELECT firn.nanoflake_take(1)",
		"UPDATE firn.nanoflake_grant SET end_tick = end_tick + 1", "INSERT INTO firn.nanoflake_grant DEFAULT VALUES",
		"TRUNCATE firn.nanoflake_grant", "CREATE TABLE firn.x ()",
	} {
		fails(t, user, statement, "42501", statement)
	}
	// A caller's objects do not replace what the functions call.
	do(t, user, `CREATE TEMP TABLE nanoflake_row (worker int);
		CREATE FUNCTION pg_temp.nextval(regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint';
		SET search_path = pg_temp, pg_catalog; SELECT firn.next_nanoflake()`)
}

// TestScripts: the script runs twice and keeps the state, and the other script removes everything but
// what is not the generator's.
func TestScripts(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn := open(t, addr)
	grant(t, conn, 7, 1, forever)
	ids := takes(t, conn, nil, "SELECT * FROM firn.next_nanoflakes(5000)")
	do(t, conn, sqlgen.Up)
	ids = takes(t, conn, ids, "SELECT * FROM firn.next_nanoflakes(5000)")
	wantDistinct(t, ids)
	if n := value[int](t, conn, `SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
		WHERE nspname = 'firn' AND relpersistence <> 'u' AND relkind = 'r'`); n != 0 {
		t.Errorf("%d tables are logged", n)
	}
	do(t, conn, "CREATE TABLE orders (id bigint DEFAULT firn.next_nanoflake())")
	fails(t, conn, "with a default", "2BP01", sqlgen.Down)
	do(t, conn, "ROLLBACK; DROP TABLE orders; CREATE TABLE firn.other ()")
	do(t, conn, sqlgen.Down)
	do(t, conn, sqlgen.Down)
	if n := value[int](t, conn, "SELECT count(*) FROM pg_depend WHERE refobjid = to_regnamespace('firn') AND refclassid = 'pg_namespace'::regclass AND classid = 'pg_class'::regclass"); n != 1 {
		t.Errorf("%d tables are left beside the one of the test", n-1)
	}
	do(t, conn, "DROP TABLE firn.other")
	do(t, conn, sqlgen.Down)
	if value[bool](t, conn, "SELECT to_regnamespace('firn') IS NOT NULL") {
		t.Error("the schema is left")
	}
}

// TestCopies: a database restored from a dump, and a copy of the database, make no ID of the
// interval in the dump.
func TestCopies(t *testing.T) {
	s := sharedServer(t)
	addr := database(t, s, sqlgen.Up)
	conn := open(t, addr)
	grant(t, conn, 7, 1, forever)
	do(t, conn, "SELECT firn.next_nanoflake()")
	conn.Close(t.Context())
	name := nameOf(addr)
	for _, statement := range []string{"CREATE DATABASE " + name + "_copy TEMPLATE " + name, "CREATE DATABASE " + name + "_restored"} {
		testkit.OK(t, s.Exec(t.Context(), statement))
	}
	isCopy := func(addr string) {
		t.Helper()
		conn := open(t, addr)
		if n := value[int](t, conn, "SELECT count(*) FROM firn.nanoflake_grant"); n != 1 {
			t.Errorf("%d rows: the test shows nothing", n)
		}
		fails(t, conn, "in a copy", "NF001", "SELECT firn.next_nanoflake()")
		feed(t, addr, t.TempDir())
		makes(t, addr)
	}
	isCopy(strings.Replace(addr, name, name+"_copy", 1))
	programs, _ := exec.LookPath("pg_dump")
	if programs == "" {
		services.Missing(t, "pg_dump is not installed")
	}
	restored := strings.Replace(addr, name, name+"_restored", 1)
	if out, err := exec.Command("sh", "-c", `pg_dump "$0" | psql -q -v ON_ERROR_STOP=1 "$1"`, addr, restored).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	isCopy(restored)
}

// TestBouncer: connections that share two backends make IDs, and so does a feed.
func TestBouncer(t *testing.T) {
	s := server(t, pgtest.Config{})
	addr := database(t, s, sqlgen.Up)
	b, err := s.Bounce(2)
	services.Need(t, err, pgtest.ErrMissing)
	t.Cleanup(func() { b.Close() })
	through := strings.Replace(b.Address(), "/postgres?", "/"+nameOf(addr)+"?", 1)
	feed(t, through, t.TempDir())
	makes(t, addr)
	lists := make([][]int64, 6)
	var all sync.WaitGroup
	for i := range lists {
		config, err := pgx.ParseConfig(through)
		testkit.OK(t, err)
		config.DefaultQueryExecMode = pgx.QueryExecModeExec
		conn, err := pgx.ConnectConfig(t.Context(), config)
		testkit.OK(t, err)
		defer conn.Close(context.Background())
		all.Go(func() {
			for n := range 300 {
				var err error
				if lists[i], err = some(t.Context(), conn, lists[i], ways[n%len(ways)]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	wantDistinct(t, lists...)
}

// TestFailover: a standby is promoted. The promoted server makes no ID before the feed has leased an
// interval for it, and no ID twice.
func TestFailover(t *testing.T) {
	primary := server(t, pgtest.Config{})
	addr, pools := database(t, primary, sqlgen.Up), t.TempDir()
	standby, err := primary.Standby(t.Context(), "standby", pgtest.Config{})
	services.Need(t, err, pgtest.ErrMissing)
	t.Cleanup(func() { standby.Close() })
	name := nameOf(addr)
	second := strings.Replace(standby.Address(), "/postgres?", "/"+name+"?", 1)
	both := fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/%s?sslmode=disable&target_session_attrs=read-write", primary.Port(), standby.Port(), name)
	f := feed(t, both, pools)
	makes(t, addr)
	all, stop := minters(t, addr, 2)
	progress(t, all)
	conn := open(t, second)
	if _, err := conn.Exec(t.Context(), "SELECT firn.next_nanoflake()"); err == nil {
		t.Error("a standby makes an ID")
	}
	// The old primary goes on, cut off from the feed or not: its interval ends by itself. The feed
	// stands still meanwhile, and so cannot lease an interval for the new primary.
	f.freeze(t)
	testkit.OK(t, standby.Promote(t.Context()))
	fails(t, conn, "after the promotion", "NF001", "SELECT firn.next_nanoflake()")
	f.thaw(t)
	progress(t, all)
	primary.Crash()
	lists := stop()
	makes(t, second)
	more, stopMore := minters(t, second, 2)
	progress(t, more)
	wantDistinct(t, append(lists, stopMore()...)...)
}

// TestTakeover: two feeds of one pool write rows in turn, since each row is released at once. IDs of
// both workers come from one sequence.
func TestTakeover(t *testing.T) {
	addr, pools := database(t, sharedServer(t), sqlgen.Up), t.TempDir()
	feeds := []*fed{feed(t, addr, pools), feed(t, addr, pools)}
	makes(t, addr)
	conn := open(t, addr)
	all, stop := minters(t, addr, 2)
	seen := make(map[int]bool)
	for range 5 {
		last := value[string](t, conn, "SELECT nonce FROM firn.nanoflake_grant")
		do(t, conn, "UPDATE firn.nanoflake_grant SET released = true, written = pg_current_xact_id()::xid")
		wait.Until(t, "another feed has taken over", func() bool { return value[string](t, conn, "SELECT nonce FROM firn.nanoflake_grant") != last })
		seen[value[int](t, conn, "SELECT worker FROM firn.nanoflake_grant")] = true
	}
	if len(seen) < 2 {
		t.Errorf("the rows are of the workers %v", seen)
	}
	progress(t, all)
	wantDistinct(t, stop()...)
	for i, f := range feeds {
		if !f.Alive() {
			t.Errorf("feed %d has ended", i)
		}
	}
}

// TestAway: the database is away while the feed runs. The feed says so, and goes on.
func TestAway(t *testing.T) {
	s := server(t, pgtest.Config{})
	addr := database(t, s, sqlgen.Up)
	f := feed(t, addr, t.TempDir())
	s.Crash()
	f.says(t, "the database makes no IDs from", 1)
	testkit.OK(t, s.Start(t.Context()))
	f.says(t, errGone, 1)
	makes(t, addr)
}

// TestStoreAway: the store stops for longer than the window. The database makes IDs to the end of its
// interval and no further, and goes on when the store does.
func TestStoreAway(t *testing.T) {
	store := server(t, pgtest.Config{})
	addr := database(t, sharedServer(t), sqlgen.Up)
	if out, err := exec.Command("firn", "pool", "create", "nanoflake", "--store", store.Address()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f := feedUntil(t, begun, "--database", addr, "--store", store.Address(), "--window", "2s")
	makes(t, addr)
	all, stop := minters(t, addr, 2)
	progress(t, all)
	for range 2 {
		store.Stop()
		refuses(t, open(t, addr), "NF003")
		store.Continue()
		makes(t, addr)
		progress(t, all)
	}
	wantDistinct(t, stop()...)
	if !f.Alive() {
		t.Error("the feed has ended")
	}
}

// restart ends a server in order, by a connection to the server, and starts the server again.
func restart(t *testing.T, s *pgtest.Server, conn *pgx.Conn) {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", conn.PgConn().PID())) // pid (name) state parent …
	testkit.OK(t, err)
	_, rest, _ := strings.Cut(string(stat), ") ")
	var parent int
	testkit.OK(t, testkit.Err(fmt.Sscanf(rest, "%s %d", new(string), &parent)))
	syscall.Kill(parent, syscall.SIGINT) // a fast shutdown
	wait.Until(t, "the server has ended", func() bool { return syscall.Kill(parent, 0) != nil })
	testkit.OK(t, s.Start(t.Context()))
}

// TestStartedAgain: the row of a server that was started again may be the row of a copy. The feed takes
// another lease, and does not extend the row: a feed that extends the rows of two copies makes IDs twice.
func TestStartedAgain(t *testing.T) {
	s := server(t, pgtest.Config{})
	addr := database(t, s, sqlgen.Up)
	f := feed(t, addr, t.TempDir())
	conn := open(t, addr)
	row := value[string](t, conn, "SELECT nonce FROM firn.nanoflake_grant")
	restart(t, s, conn)
	f.says(t, "was started again, or is a copy", 1)
	conn = open(t, addr)
	wait.Until(t, "the feed writes another row", func() bool { return value[string](t, conn, "SELECT nonce FROM firn.nanoflake_grant") != row })
	makes(t, addr)
}

// TestLogged: somebody makes the table a logged one while a feed runs. The rewritten row is a copy, and
// the feed writes no other row until the table is unlogged again.
func TestLogged(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	f := feed(t, addr, t.TempDir())
	makes(t, addr)
	conn := open(t, addr)
	do(t, conn, "ALTER TABLE firn.nanoflake_grant SET LOGGED")
	f.says(t, "is not unlogged", 1)
	fails(t, conn, "with a logged table", "NF001", "SELECT firn.next_nanoflake()")
	do(t, conn, "ALTER TABLE firn.nanoflake_grant SET UNLOGGED")
	makes(t, addr)
}

// TestRefused: a feed without the right to write its row says so, and not that the server has crashed.
func TestRefused(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	exec1(t, addr, `CREATE FUNCTION firn.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no row today'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON firn.nanoflake_grant FOR EACH ROW EXECUTE FUNCTION firn.refuse()`)
	refused := func(f *fed) bool { return strings.Contains(f.log.String(), "no row today") }
	f := feedUntil(t, refused, "--database", addr, "--state", t.TempDir())
	f.says(t, "no row today", 2)
	if text := f.log.String(); strings.Contains(text, "has crashed") {
		t.Errorf("the feed says: %s", text)
	}
	exec1(t, addr, "DROP TRIGGER refuse ON firn.nanoflake_grant; DROP FUNCTION firn.refuse()")
	makes(t, addr)
}

// TestIdleClock: the clock of the server steps ahead by an hour and back, and no ID is made meanwhile.
// The interval ahead was of use to nobody: the feed that wrote it takes another, at the right time. So
// does a feed that starts afterwards.
func TestIdleClock(t *testing.T) {
	for _, killed := range []bool{false, true} {
		addr, pools := database(t, sharedServer(t), sqlgen.Up), t.TempDir()
		f := feed(t, addr, pools, "--window", "2s")
		makes(t, addr)
		conn := open(t, addr)
		do(t, conn, strings.Replace(slideClock, "ahead", "3600000", 1))
		wait.Until(t, "the interval is ahead", func() bool {
			return value[bool](t, conn, "SELECT coalesce(max(end_tick + epoch) > firn.nanoflake_clock(), false) FROM firn.nanoflake_grant")
		})
		if killed {
			f.Kill()
		}
		do(t, conn, strings.Replace(slideClock, "ahead", "0", 1))
		if killed {
			feed(t, addr, pools, "--window", "2s")
		}
		if id := makes(t, addr); time.Until(id.Time(nanoflake.DefaultEpoch())) > time.Minute {
			t.Errorf("killed %v: the time of an ID is %v", killed, id.Time(nanoflake.DefaultEpoch()))
		}
	}
}

// slideClock makes the database's clock run ahead, in milliseconds.
const slideClock = `CREATE OR REPLACE FUNCTION firn.nanoflake_clock() RETURNS bigint LANGUAGE sql VOLATILE
	AS $$ SELECT (pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) * 1000)::bigint + ahead $$`

// TestCleanRestart: the server ends and starts again in order, and goes on in the interval.
func TestCleanRestart(t *testing.T) {
	s := server(t, pgtest.Config{})
	addr := database(t, s, sqlgen.Up)
	conn := open(t, addr)
	do(t, conn, fixedClock)
	grant(t, conn, 7, tick, tick+1000)
	ids := takes(t, conn, nil, "SELECT * FROM firn.next_nanoflakes(100)")
	restart(t, s, conn)
	ids = takes(t, open(t, addr), ids, "SELECT * FROM firn.next_nanoflakes(100)")
	wantDistinct(t, ids)
}

const errGone = "the row is gone"

// nameOf returns the name of the database of an address.
func nameOf(addr string) string { return strings.Split(strings.Split(addr, "/")[3], "?")[0] }

// rights are the rights of docs/sql-generator.md, for the roles app and firn_feed.
var rights = []string{
	"GRANT USAGE ON SCHEMA firn TO app, firn_feed",
	"GRANT EXECUTE ON FUNCTION firn.next_nanoflake(), firn.next_nanoflakes(int) TO app",
	"GRANT SELECT, INSERT, UPDATE ON firn.nanoflake_grant TO firn_feed",
	"GRANT SELECT ON firn.nanoflake_row TO firn_feed",
	"GRANT EXECUTE ON FUNCTION firn.nanoflake_clock() TO firn_feed",
}

package sqlgen_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firn-id/firn/cmd/firn/internal/root"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/process"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
)

func TestMain(m *testing.M) {
	testscript.Main(closing{m}, map[string]func(){"firn": func() {
		stores.InspectStore = func(context.Context, driver.Store) ([]driver.Finding, error) { return nil, nil } // of temporary directories
		os.Exit(root.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}})
}

// closing closes the server that tests share, after all tests.
type closing struct{ m *testing.M }

func (c closing) Run() int {
	defer func() {
		if shared.server != nil {
			shared.server.Close()
		}
	}()
	return c.m.Run()
}

// shared is a server for tests that crash nothing.
var shared struct {
	once   sync.Once
	server *pgtest.Server
	err    error
}

// server returns a server of the test's own, in the full check alone.
func server(t testing.TB, c pgtest.Config) *pgtest.Server {
	t.Helper()
	services.Full(t)
	turn.Take(t)
	s, err := pgtest.Start(t.Context(), c)
	services.Need(t, err, pgtest.ErrMissing)
	t.Cleanup(func() { s.Close() })
	return s
}

// sharedServer returns the server for tests that crash nothing.
func sharedServer(t testing.TB) *pgtest.Server {
	t.Helper()
	shared.once.Do(func() {
		shared.server, shared.err = pgtest.Start(context.Background(), pgtest.Config{Settings: map[string]string{"max_prepared_transactions": "5"}})
	})
	services.Need(t, shared.err, pgtest.ErrMissing)
	return shared.server
}

// database makes a database with the generator of a script, and returns its address.
func database(t testing.TB, s *pgtest.Server, up string) string {
	t.Helper()
	name := "firn_" + strings.ToLower(rand.Text()[:10])
	testkit.OK(t, s.Exec(t.Context(), "CREATE DATABASE "+name))
	addr := strings.Replace(s.Address(), "/postgres?", "/"+name+"?", 1)
	exec1(t, addr, up)
	return addr
}

// open returns a connection to a database.
func open(t testing.TB, addr string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), addr)
	testkit.OK(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// exec1 executes statements over a connection of their own.
func exec1(t testing.TB, addr, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), addr)
	testkit.OK(t, err)
	defer conn.Close(context.Background())
	do(t, conn, statements)
}

// do executes statements.
func do(t testing.TB, conn *pgx.Conn, statements string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statements, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatalf("%v: %v", err, statements[:min(len(statements), 200)])
	}
}

// fails executes statements that must fail with an SQLSTATE.
func fails(t testing.TB, conn *pgx.Conn, what, code, statements string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statements, pgx.QueryExecModeSimpleProtocol); state(err) != code {
		t.Errorf("%s: %v, not SQLSTATE %s", what, err, code)
	}
}

// value returns the one value of a query.
func value[T any](t testing.TB, conn *pgx.Conn, query string) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}

// state returns the SQLSTATE of an error, or "".
func state(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// A fed is a running firn sql feed.
type fed struct {
	*process.Process
	log process.Logbook
}

// feed starts a firn sql feed with a directory of pools. Unless the arguments say otherwise, its
// window is long, so that no interval ends while a busy machine lets the feed wait.
func feed(t testing.TB, addr, pools string, args ...string) *fed {
	t.Helper()
	return feedUntil(t, begun, append([]string{"--database", addr, "--state", pools, "--window", "1m"}, args...)...)
}

// begun reports whether a feed has a lease, or stands by.
func begun(f *fed) bool {
	return strings.Contains(f.log.String(), "is leased") || strings.Contains(f.log.String(), "standing by")
}

// feedUntil starts a firn sql feed, and waits for its first success.
func feedUntil(t testing.TB, success func(*fed) bool, args ...string) (f *fed) {
	t.Helper()
	f = startFeed(t, args...)
	wait.Until(t, "the feed has begun", func() bool {
		if !f.Alive() {
			t.Fatal("the feed has ended")
		}
		return success(f)
	})
	return f
}

func startFeed(t testing.TB, args ...string) *fed {
	t.Helper()
	f := new(fed)
	cmd := exec.Command("firn", append([]string{"sql", "feed"}, args...)...)
	cmd.Stdout, cmd.Stderr = &f.log, &f.log
	p, err := process.Start(cmd)
	testkit.OK(t, err)
	f.Process = p
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("feed: %s", f.log.String())
		}
	})
	return f
}

// freeze stops the feed, and thaw ends the stop.
func (f *fed) freeze(t testing.TB) { t.Helper(); testkit.OK(t, f.Freeze()) }
func (f *fed) thaw(t testing.TB)   { t.Helper(); testkit.OK(t, f.Thaw()) }

// title returns how a row names the feed as its holder.
func (f *fed) title() string { return fmt.Sprintf("process %d on", f.Pid()) }

// says waits until the feed says a text so many times.
func (f *fed) says(t testing.TB, text string, times int) {
	t.Helper()
	wait.Until(t, fmt.Sprintf("the feed said %q %d times", text, times), func() bool { return strings.Count(f.log.String(), text) >= times })
}

// makes waits until a database makes IDs, and returns an ID.
func makes(t testing.TB, addr string) (id nanoflake.ID) {
	t.Helper()
	wait.Until(t, "the database makes IDs", func() bool {
		conn, err := pgx.Connect(t.Context(), addr)
		if err != nil {
			return false
		}
		defer conn.Close(context.Background())
		return conn.QueryRow(t.Context(), "SELECT firn.next_nanoflake()").Scan((*int64)(&id)) == nil
	})
	return id
}

// refuses waits until the generator refuses calls for a reason, an SQLSTATE.
func refuses(t testing.TB, conn *pgx.Conn, reason string) {
	t.Helper()
	wait.Until(t, "the generator refuses with "+reason, func() bool {
		_, err := conn.Exec(t.Context(), "SELECT firn.next_nanoflake()")
		return state(err) == reason
	})
}

// duplicates sorts the IDs of all lists, and returns the IDs that come twice.
func duplicates(lists ...[]int64) (twice []int64) {
	all := slices.Concat(lists...)
	slices.Sort(all)
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			twice = append(twice, all[i])
		}
	}
	return twice
}

// wantDistinct fails the test if an ID comes twice.
func wantDistinct(t testing.TB, lists ...[]int64) {
	t.Helper()
	twice := duplicates(lists...)
	n := 0
	for _, l := range lists {
		n += len(l)
	}
	if len(twice) > 0 {
		t.Errorf("%d of %d IDs come twice, such as %d", len(twice), n, twice[0])
	}
	t.Logf("%d IDs in %d lists", n, len(lists))
}

// some appends the IDs of a query.
func some(ctx context.Context, conn *pgx.Conn, ids []int64, query string) ([]int64, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return ids, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// takes is some for a query that must not fail.
func takes(t testing.TB, conn *pgx.Conn, ids []int64, query string) []int64 {
	t.Helper()
	ids, err := some(t.Context(), conn, ids, query)
	testkit.OK(t, err)
	return ids
}

// ways are the queries that make IDs, in the order of a minter.
var ways = []string{
	"SELECT firn.next_nanoflake()",
	"SELECT firn.next_nanoflake() FROM generate_series(1, 20)",
	"SELECT * FROM firn.next_nanoflakes(300)",
}

// A minter makes IDs over one connection, until it is stopped. It connects again after errors.
type minter struct {
	addr  string
	pid   atomic.Int32 // of the backend, 0 without a connection
	made  atomic.Int64 // how many IDs
	empty atomic.Int64 // how many calls found no interval

	ids []int64
}

// minters starts n minters. stop ends the minters, and returns their IDs.
func minters(t testing.TB, addr string, n int) (all []*minter, stop func() [][]int64) {
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	for range n {
		m := &minter{addr: addr}
		all = append(all, m)
		done.Go(func() { m.run(ctx) })
	}
	t.Cleanup(func() { cancel(); done.Wait() })
	return all, func() [][]int64 {
		cancel()
		done.Wait()
		var lists [][]int64
		for _, m := range all {
			lists = append(lists, m.ids)
		}
		return lists
	}
}

func (m *minter) run(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := pgx.Connect(ctx, m.addr)
		if err != nil {
			pause()
			continue
		}
		m.pid.Store(int32(conn.PgConn().PID()))
		for i := 0; ctx.Err() == nil && !conn.IsClosed(); i++ {
			before := len(m.ids)
			m.ids, err = some(ctx, conn, m.ids, ways[i%len(ways)])
			m.made.Add(int64(len(m.ids) - before))
			if err != nil {
				if state(err) == "NF001" {
					m.empty.Add(1)
				}
				pause()
			}
		}
		m.pid.Store(0)
		conn.Close(context.Background())
	}
}

// pause lets the servers work before another call.
func pause() { time.Sleep(5 * time.Millisecond) }

// progress waits until each minter has made more IDs.
func progress(t testing.TB, all []*minter) {
	t.Helper()
	for i, m := range all {
		from := m.made.Load()
		wait.Until(t, fmt.Sprintf("minter %d has made more IDs", i), func() bool { return m.made.Load() > from+50 })
	}
}

// beside starts a generator of Go with a worker of the same pool. stop ends the generator, and
// returns its IDs, many of them.
func beside(t testing.TB, pools string) (stop func() []int64) {
	t.Helper()
	store, err := filelease.Open(pools)
	testkit.OK(t, err)
	t.Cleanup(func() { store.Close() })
	g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	testkit.OK(t, err)
	held, err := lease.Start(t.Context(), store, g, lease.Config{})
	testkit.OK(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var ids []int64
	var failed error
	var done sync.WaitGroup
	var made atomic.Int64
	done.Go(func() {
		defer made.Store(math.MaxInt64)
		run := make([]nanoflake.ID, 100)
		for ctx.Err() == nil {
			n, err := g.Fill(ctx, run)
			for _, id := range run[:n] {
				ids = append(ids, int64(id))
			}
			if err != nil && ctx.Err() == nil {
				failed = err
				return
			}
			made.Add(int64(n))
			pause()
		}
	})
	end := sync.OnceFunc(func() {
		cancel()
		done.Wait()
		held.Close()
	})
	t.Cleanup(end)
	return func() []int64 {
		wait.Until(t, "the generator of Go has made many IDs", func() bool { return made.Load() >= 1000 })
		end()
		if failed != nil {
			t.Error(failed)
		}
		return ids
	}
}

// grant writes an interval for a database, as a feed does: from now on, or from a tick on.
func grant(t testing.TB, conn *pgx.Conn, worker int, first, end int64) {
	t.Helper()
	do(t, conn, fmt.Sprintf(`DELETE FROM firn.nanoflake_grant;
		INSERT INTO firn.nanoflake_grant (worker, first_tick, end_tick, due_tick, epoch, nonce, holder, written, relation, database)
			SELECT %d, %d, %d, 0, %d, 'test', 'a test', pg_current_xact_id()::xid, 'firn.nanoflake_grant'::regclass, oid
			FROM pg_database WHERE datname = current_database()`, worker, first, end, nanoflake.DefaultEpochMilli))
}

// forever is an end of ticks.
const forever = 1 << 41

package sqlgen_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/freeze"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/nanoflake"
)

// backend returns the process of a minter's backend, which runs. After a crash, a minter may still
// read what its last backend has sent.
func backend(t *testing.T, m *minter) (pid int) {
	t.Helper()
	wait.Until(t, "the minter has a backend", func() bool {
		pid = int(m.pid.Load())
		return pid != 0 && syscall.Kill(pid, 0) == nil
	})
	return pid
}

// crashes returns how often a server has crashed and begun to recover.
func crashes(s *pgtest.Server) int { return strings.Count(s.Log(), "all server processes terminated") }

// TestCrash: backends are killed. The server recovers without the interval, the functions refuse,
// and the feed leases another interval.
func TestCrash(t *testing.T) {
	s := server(t, pgtest.Config{})
	addr, pools := database(t, s, sqlgen.Up), t.TempDir()
	f := feed(t, addr, pools)
	makes(t, addr)
	stopGo := beside(t, pools)
	all, stop := minters(t, addr, 4)
	for i := range 3 {
		progress(t, all)
		syscall.Kill(backend(t, all[i]), syscall.SIGKILL)
		wait.Until(t, "the server recovers", func() bool { return crashes(s) > i })
	}
	progress(t, all)
	f.freeze(t) // nobody writes an interval after this crash
	var before []int64
	for _, m := range all {
		before = append(before, m.empty.Load())
	}
	syscall.Kill(backend(t, all[0]), syscall.SIGKILL)
	for i, m := range all {
		wait.Until(t, fmt.Sprintf("minter %d is refused", i), func() bool { return m.empty.Load() > before[i] })
	}
	f.thaw(t)
	progress(t, all)
	wantDistinct(t, append(stop(), stopGo())...)
}

// tick is the timestamp of the first time of fixedClock.
const tick = 1700000000000 - nanoflake.DefaultEpochMilli

// fixedClock replaces the clock of a database by a sequence, which the test sets. Transactions with
// old snapshots see the present value of a sequence.
const fixedClock = `CREATE SEQUENCE public.test_clock;
	SELECT setval('public.test_clock', 1700000000000);
	CREATE OR REPLACE FUNCTION firn.nanoflake_clock() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT last_value FROM public.test_clock'`

// pass lets the clock of fixedClock pass by so many milliseconds.
func pass(t *testing.T, conn *pgx.Conn, ms int64) {
	t.Helper()
	do(t, conn, fmt.Sprintf("SELECT setval('public.test_clock', last_value + %d) FROM public.test_clock", ms))
}

// crash kills a backend, and waits for the server to recover.
func crash(t *testing.T, s *pgtest.Server, addr string) {
	t.Helper()
	conn := open(t, addr)
	before := crashes(s)
	syscall.Kill(int(conn.PgConn().PID()), syscall.SIGKILL)
	wait.Until(t, "the server has recovered", func() bool {
		if crashes(s) == before {
			return false
		}
		conn, err := pgx.Connect(t.Context(), addr)
		if err == nil {
			conn.Close(t.Context())
		}
		return err == nil
	})
}

// TestLostSequence: the sequence goes back in a crash, while the clock stands still. The generator
// makes no ID twice. It would with a table that a crash does not empty.
func TestLostSequence(t *testing.T) {
	s := server(t, pgtest.Config{})
	for _, test := range []struct {
		name     string
		logged   bool
		then     string // the SQLSTATE after the crash
		repeated bool
	}{
		{"right", false, "NF001", false},
		{"logged", true, "", true},
	} {
		addr := database(t, s, sqlgen.Up)
		conn := open(t, addr)
		do(t, conn, fixedClock)
		if test.logged {
			do(t, conn, "ALTER TABLE firn.nanoflake_grant SET LOGGED")
		}
		grant(t, conn, 7, tick, tick+1000)
		ids, err := some(t.Context(), conn, nil, "SELECT firn.next_nanoflake() FROM generate_series(1, 100)")
		if err != nil {
			t.Fatal(test.name, err)
		}
		crash(t, s, addr)
		conn = open(t, addr)
		const query = "SELECT firn.next_nanoflake() FROM generate_series(1, 100)"
		more, err := some(t.Context(), conn, nil, query)
		if state(err) != test.then {
			t.Errorf("%s: after the crash: %v", test.name, err)
		}
		if !test.logged { // a crash may also leave an old sequence
			grant(t, conn, 7, tick+1000, tick+2000)
			do(t, conn, fmt.Sprintf("SELECT setval('firn.nanoflake_word', %d)", int64(tick)<<12))
			if more, err = some(t.Context(), conn, more, query); state(err) != "NF002" {
				t.Errorf("%s: with the next interval: %v", test.name, err)
			}
		}
		if repeated := len(duplicates(ids, more)) > 0; repeated != test.repeated {
			t.Errorf("%s: an ID comes twice: %v", test.name, repeated)
		}
		if !test.logged {
			pass(t, conn, 1000)
			if more, err = some(t.Context(), conn, more, query); err != nil {
				t.Errorf("in the next interval: %v", err)
			}
			wantDistinct(t, ids, more)
		}
	}
}

// TestStops: backends and feeds are stopped for longer than the interval, and feeds are killed and
// follow each other. No ID comes twice, and each connection goes on.
func TestStops(t *testing.T) {
	const window = 2 * time.Second
	s := server(t, pgtest.Config{})
	addr, pools := database(t, s, sqlgen.Up), t.TempDir()
	next := func() *fed { return feed(t, addr, pools, "--window", window.String()) }
	f := next()
	makes(t, addr)
	stopGo := beside(t, pools)
	all, stop := minters(t, addr, 4)
	rounds := 4
	if testing.Short() {
		rounds = 2
	}
	for i := range rounds {
		progress(t, all)
		pid := backend(t, all[i%len(all)])
		testkit.OK(t, freeze.Process(pid))
		time.Sleep(window * 3 / 2) // a longer stop is as good
		syscall.Kill(pid, syscall.SIGCONT)
	}
	progress(t, all)

	ended := func() {
		t.Helper()
		refuses(t, open(t, addr), "NF003")
	}
	f.freeze(t)
	ended()
	f.thaw(t)
	progress(t, all)

	f.Kill()
	ended()
	f = next()
	progress(t, all)

	// Of two feeds one stands by. On a busy machine the feeds may change places at any time. The test
	// therefore waits for a row of the feed that is left, whichever feed wrote the last row.
	feeds := func(f *fed) {
		t.Helper()
		conn := open(t, addr)
		wait.Until(t, "the row is of the feed", func() bool {
			return value[bool](t, conn, "SELECT EXISTS (SELECT FROM firn.nanoflake_row WHERE holder LIKE '%"+f.title()+"%')")
		})
	}
	second := next()
	f.Kill()
	feeds(second)
	progress(t, all)

	third := next() // takes over from a stopped feed, which then stands by
	second.freeze(t)
	feeds(third)
	progress(t, all)
	leased := strings.Count(second.log.String(), "is leased")
	second.thaw(t)
	wait.Until(t, "the stopped feed stands by, or takes over in turn", func() bool {
		text := second.log.String()
		return strings.Contains(text, "is fed by firn sql feed ("+third.title()) || strings.Count(text, "is leased") > leased
	})
	progress(t, all)

	syscall.Kill(third.Pid(), syscall.SIGTERM) // gives the database to the next feed
	wait.Closed(t, "the feed has ended", third.Done())
	feeds(second)
	progress(t, all)
	wantDistinct(t, append(stop(), stopGo())...)
}

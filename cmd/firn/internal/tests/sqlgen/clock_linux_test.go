package sqlgen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/nanoflake"
)

// TestClock: the clock of the database steps. IDs increase, errors say what is wrong, and the
// generator goes on when the clock is right again.
func TestClock(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn, other := open(t, addr), open(t, addr)
	do(t, conn, fixedClock)
	grant(t, conn, 7, tick, tick+5_000)
	var ids []int64
	mint := func(conn *pgx.Conn, want, text string) {
		t.Helper()
		var err error
		ids, err = some(t.Context(), conn, ids, "SELECT firn.next_nanoflake()")
		if state(err) != want || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%v, not SQLSTATE %q with %q", err, want, text)
		}
	}
	at := func(ms int64) { do(t, conn, fmt.Sprintf("SELECT setval('public.test_clock', %d)", 1700000000000+ms)) }
	mint(conn, "", "")
	mint(other, "", "")
	at(1000)
	mint(conn, "", "")
	mint(other, "", "")
	at(500)
	mint(conn, "NF004", "500 ms behind")
	fails(t, conn, "a batch with the clock set back", "NF004", "SELECT * FROM firn.next_nanoflakes(10)")
	at(-40)
	mint(conn, "NF004", "1040 ms behind")
	at(-60)
	mint(conn, "NF002", "begins in 60 ms")
	at(1001)
	mint(conn, "", "")
	mint(other, "", "")

	// A little ahead of the clock, a call waits.
	at(1900)
	mint(conn, "", "")
	at(1880)
	done := make(chan error, 1)
	go func() {
		_, err := other.Exec(t.Context(), "SELECT firn.next_nanoflake()")
		done <- err
	}()
	wait.Until(t, "the call waits", func() bool {
		return value[bool](t, conn, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database())")
	})
	if n := value[int](t, conn, locks); n != 0 {
		t.Errorf("%d locks are held while a call waits", n)
	}
	at(1900)
	if err, _ := wait.Receive(t, "the end of the call", done); err != nil {
		t.Error(err)
	}

	// A clock far ahead is past the interval. The word does not follow the clock.
	at(3_600_000)
	mint(conn, "NF003", "has ended")
	at(4999)
	mint(conn, "", "")
	at(5000)
	mint(conn, "NF003", "has ended")
	if !slices.IsSorted(ids) {
		t.Error("IDs do not increase")
	}
	wantDistinct(t, ids)
}

// An exhausted millisecond: more than 4096 IDs of one tick are IDs of the next ticks, or none.
func TestExhausted(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn := open(t, addr)
	do(t, conn, fixedClock)
	grant(t, conn, 7, tick, tick+1000)
	ids := takes(t, conn, nil, "SELECT * FROM firn.next_nanoflakes(4000)")
	ids = takes(t, conn, ids, "SELECT firn.next_nanoflake() FROM generate_series(1, 96)")
	for _, id := range ids {
		if got := id >> 22; got != tick {
			t.Fatalf("an ID of tick %d, not %d", got, int64(tick))
		}
	}
	do(t, conn, "SET statement_timeout = '200ms'") // the clock stands still
	fails(t, conn, "with an exhausted tick", "57014", "SELECT firn.next_nanoflake()")
	do(t, conn, "RESET statement_timeout")
	pass(t, conn, 1)
	ids = takes(t, conn, ids, "SELECT * FROM firn.next_nanoflakes(4000)")
	wantDistinct(t, ids)
}

// TestFedClock: the clock of a server with a feed steps by an hour, ahead and back. The lease follows
// the clock ahead. After the step back, the generator waits for the clock.
func TestFedClock(t *testing.T) {
	library, _ := filepath.Glob("/usr/lib/*/faketime/libfaketime.so.1")
	if len(library) == 0 {
		services.Missing(t, "the test changes the clock of a server by libfaketime: install the package faketime")
	}
	dir, err := os.MkdirTemp("", "firn-clock-") // the server reads the file as another user
	testkit.OK(t, err)
	defer os.RemoveAll(dir)
	testkit.OK(t, os.Chmod(dir, 0o755))
	file := filepath.Join(dir, "offset")
	set := func(offset string) {
		t.Helper()
		testkit.OK(t, os.WriteFile(file+".new", []byte(offset), 0o644))
		testkit.OK(t, os.Rename(file+".new", file))
	}
	set("+0")
	var s *pgtest.Server
	func() {
		for name, v := range map[string]string{"LD_PRELOAD": library[0], "FAKETIME_TIMESTAMP_FILE": file, "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"} {
			os.Setenv(name, v)
			defer os.Unsetenv(name)
		}
		s = server(t, pgtest.Config{})
	}()
	addr, pools := database(t, s, sqlgen.Up), t.TempDir()
	feed(t, addr, pools, "--window", "2s")
	makes(t, addr)
	conn := open(t, addr)
	all, stop := minters(t, addr, 3)
	progress(t, all)
	ahead := func() time.Duration {
		return time.Duration(value[int64](t, conn, "SELECT firn.nanoflake_clock()")-time.Now().UnixMilli()) * time.Millisecond
	}
	if d := ahead().Abs(); d > time.Minute {
		t.Fatalf("the clock of the server is %v off", d)
	}
	set("-1h") // before IDs are of later times
	wait.Until(t, "the database refuses an hour in the past", func() bool {
		_, err := conn.Exec(t.Context(), "SELECT firn.next_nanoflake()")
		return ahead() < -time.Minute && (state(err) == "NF002" || state(err) == "NF004")
	})
	set("+0")
	progress(t, all)
	set("+1h")
	wait.Until(t, "the clock is an hour ahead", func() bool { return ahead() > time.Minute })
	progress(t, all)
	if id := makes(t, addr); time.Until(id.Time(nanoflake.DefaultEpoch())) < time.Minute {
		t.Errorf("the time of an ID is %v", id.Time(nanoflake.DefaultEpoch()))
	}
	set("+0")
	wait.Until(t, "the database refuses its own time", func() bool {
		_, err := conn.Exec(t.Context(), "SELECT firn.next_nanoflake()")
		return ahead() < time.Minute && (state(err) == "NF002" || state(err) == "NF004" || state(err) == "NF003")
	})
	set("+3601s") // the clock has caught up
	progress(t, all)
	lists := stop()
	for _, ids := range lists {
		for i := 1; i < len(ids); i++ {
			if ids[i]>>22 < ids[i-1]>>22 {
				t.Fatalf("the times of IDs go back: %d, %d", ids[i-1], ids[i])
			}
		}
	}
	wantDistinct(t, lists...)
}

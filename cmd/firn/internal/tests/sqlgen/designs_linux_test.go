package sqlgen_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/wait"
)

// gatedClock is fixedClock with a gate: sessions that are to stop wait at a reading of the clock with the
// exclusive lock, until the gate is open.
const gatedClock = `;
	CREATE OR REPLACE FUNCTION firn.nanoflake_clock() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
	BEGIN
		IF current_setting('firn_test.stops', true) = 'yes' AND EXISTS (SELECT FROM pg_locks
			WHERE locktype = 'advisory' AND pid = pg_backend_pid() AND classid = 1718186606 AND mode = 'ExclusiveLock') THEN
			PERFORM pg_advisory_lock_shared(1, 1);
			PERFORM pg_advisory_unlock_shared(1, 1);
		END IF;
		RETURN (SELECT last_value FROM public.test_clock);
	END $$`

// A gate stops calls of a database with a gated clock.
type gate struct {
	addr string
	conn *pgx.Conn // has the lock while the gate is shut
}

// shut shuts the gate of a database.
func shut(t *testing.T, addr string) *gate {
	t.Helper()
	g := &gate{addr, open(t, addr)}
	do(t, g.conn, "SELECT pg_advisory_lock(1, 1)")
	return g
}

// open opens the gate.
func (g *gate) open(t *testing.T) {
	t.Helper()
	do(t, g.conn, "SELECT pg_advisory_unlock(1, 1)")
}

// A result is what a call has returned.
type result struct {
	ids []int64
	err error
}

// call starts a call, over a connection of its own, and waits until the call is at the gate.
func (g *gate) call(t *testing.T, query string) (conn *pgx.Conn, done <-chan result) {
	t.Helper()
	conn = open(t, g.addr)
	do(t, conn, "SET firn_test.stops = 'yes'")
	done = start(t, conn, query)
	wait.Until(t, "the call is at the gate", func() bool { return waits(t, g.conn, conn, 1) })
	return conn, done
}

// start starts a call.
func start(t *testing.T, conn *pgx.Conn, query string) <-chan result {
	done := make(chan result, 1)
	go func() {
		ids, err := some(t.Context(), conn, nil, query)
		done <- result{ids, err}
	}()
	return done
}

// waits reports whether a session waits for an advisory lock with a first number.
func waits(t *testing.T, conn, session *pgx.Conn, number int) bool {
	t.Helper()
	return value[bool](t, conn, fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND pid = %d AND classid = %d)", session.PgConn().PID(), number))
}

// TestLocks: while a session raises the sequence to a tick, another session asks for IDs. The other
// session waits for the lock, and takes no word twice.
func TestLocks(t *testing.T) {
	for name, query := range map[string]string{
		"one ID":  "SELECT firn.next_nanoflake()",
		"a batch": "SELECT * FROM firn.next_nanoflakes(2)",
	} {
		t.Run(name, func(t *testing.T) {
			addr := database(t, sharedServer(t), sqlgen.Up)
			conn := open(t, addr)
			do(t, conn, fixedClock+gatedClock)
			grant(t, conn, 7, tick-10, forever)
			do(t, conn, fmt.Sprintf("SELECT setval('firn.nanoflake_word', %d)", int64(tick)<<12-3))
			g := shut(t, addr)
			_, slow := g.call(t, "SELECT firn.next_nanoflake()")
			other := open(t, addr)
			quick := start(t, other, query)
			wait.Until(t, "the other call has ended, or waits for the lock", func() bool { return len(quick) == 1 || waits(t, conn, other, 1718186606) })
			if len(quick) == 1 {
				t.Error("the other call did not wait")
			}
			g.open(t)
			one, _ := wait.Receive(t, "the end of a call", slow)
			two, _ := wait.Receive(t, "the end of a call", quick)
			if one.err != nil || two.err != nil {
				t.Fatal(one.err, two.err)
			}
			wantDistinct(t, one.ids, two.ids)
		})
	}
}

package sqlgen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/wait"
)

// gated returns the script with a gate between the reading of the sequence and setval. Sessions that
// are to stop there wait until the gate is open.
func gated(t *testing.T, up string) string {
	t.Helper()
	const before = "      if word >> 12 < tick and"
	const gate = `      if current_setting('firn_test.stops', true) = 'yes' then
        perform pg_advisory_lock_shared(1, 1);
        perform pg_advisory_unlock_shared(1, 1);
      end if;
`
	if strings.Count(up, before) != 1 {
		t.Fatalf("the script has not one %q", before)
	}
	return strings.Replace(up, before, gate+before, 1)
}

// A gate stops calls of a database with a gated script.
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
// session waits for the lock. Without one of the locks, the other session takes the first words of the
// tick, and these come twice.
func TestLocks(t *testing.T) {
	for name, test := range map[string]struct {
		up, query string
		repeated  bool
	}{
		"right":                        {sqlgen.Up, "SELECT firn.next_nanoflake()", false},
		"right, a batch":               {sqlgen.Up, "SELECT * FROM firn.next_nanoflakes(2)", false},
		"without the shared lock":      {mutant(t, "      perform pg_advisory_xact_lock_shared(1718186606, 1);\n", ""), "SELECT firn.next_nanoflake()", true},
		"without the lock":             {mutant(t, "      perform pg_advisory_xact_lock(1718186606, 1);\n", ""), "SELECT firn.next_nanoflake()", true},
		"without the lock, in a batch": {mutant(t, "      perform pg_advisory_xact_lock(1718186606, 1);\n", ""), "SELECT * FROM firn.next_nanoflakes(2)", true},
	} {
		t.Run(name, func(t *testing.T) {
			addr := database(t, sharedServer(t), gated(t, test.up))
			conn := open(t, addr)
			do(t, conn, fixedClock)
			grant(t, conn, 7, tick-10, forever)
			do(t, conn, fmt.Sprintf("SELECT setval('firn.nanoflake_word', %d)", int64(tick)<<12-3))
			g := shut(t, addr)
			_, slow := g.call(t, "SELECT firn.next_nanoflake()")
			other := open(t, addr)
			quick := start(t, other, test.query)
			wait.Until(t, "the other call has ended, or waits for the lock", func() bool { return len(quick) == 1 || waits(t, conn, other, 1718186606) })
			if early := len(quick) == 1; early != test.repeated {
				t.Errorf("the other call did not wait: %v", early)
			}
			g.open(t)
			one, _ := wait.Receive(t, "the end of a call", slow)
			two, _ := wait.Receive(t, "the end of a call", quick)
			if one.err != nil || two.err != nil {
				t.Fatal(one.err, two.err)
			}
			if repeated := len(duplicates(one.ids, two.ids)) > 0; repeated != test.repeated {
				t.Errorf("%v and %v: an ID comes twice: %v", one.ids, two.ids, repeated)
			}
		})
	}
}

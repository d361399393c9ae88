package pglease_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/drivertest"
	"github.com/firn-id/firn/lease/pglease"
)

// TestConfirmCutOff has a synchronous standby take over, while the last primary goes on.
func TestConfirmCutOff(t *testing.T) {
	t.Parallel()
	primary := server(t, pgtest.Config{})
	second := standby(t, primary, "second", pgtest.Config{})
	const table = "table=test.leases"
	storetest.Prepare(t, pglease.Open, storetest.With(primary.Address(), table))
	set(t, primary, "synchronous_standby_names", "second")
	wait.Until(t, "the standby follows synchronously", func() bool {
		return scan[int](t, primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
	old := storetest.Open(t, pglease.Open, storetest.With(primary.Address(), table, "timeout=1s"))
	drivertest.CutOff(t, old, func() driver.Store {
		testkit.OK(t, second.Promote(t.Context()))
		return storetest.Open(t, pglease.Open, storetest.With(second.Address(), table))
	})

	// Other reads of the last primary show the past: the test shows something. The number of a
	// transaction alone makes no commit wait.
	for _, query := range []string{
		"SELECT convert_from(value, 'UTF8') FROM test.leases WHERE key = 'cut/off'",
		"SELECT convert_from(value, 'UTF8') FROM test.leases, (SELECT txid_current()) AS x WHERE key = 'cut/off'",
	} {
		if got := scan[string](t, primary, query); got != "before" {
			t.Errorf("%s on the last primary: %q", query, got)
		}
	}
}

// TestConfirmWrites has a standby named that does not exist, while Confirm is under way: the session of
// Confirm does not know of the standby, and its commit waits all the same. So the transaction of Confirm
// is one that writes. The transaction of Get writes nothing here, and returns.
func TestConfirmWrites(t *testing.T) {
	t.Parallel()
	s := server(t, pgtest.Config{})
	st := storetest.Prepare(t, pglease.Open, storetest.With(s.Address(), "table=test.leases", "timeout=10m"))
	rev := storetest.Put(t, st, "a", "x", driver.None)
	waiting := func(event string) func() bool {
		return func() bool {
			return scan[int](t, s, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = '"+event+"' AND query LIKE '%leases%'") == 1
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, name := range []string{"Get", "Confirm"} {
		look := st.Get
		if name == "Confirm" {
			look = st.Confirm
		}
		holder := connect(t, s.Address())
		run(t, holder, "BEGIN")
		run(t, holder, "LOCK TABLE test.leases")
		var e driver.Entry
		var err error
		returned := make(chan struct{})
		go func() {
			e, err = look(ctx, "a")
			close(returned)
		}()
		wait.Until(t, name+" waits for the lock", waiting("relation"))

		// The server waits for the standby as soon as any commit does.
		set(t, s, "synchronous_standby_names", "nobody")
		writer := connect(t, s.Address())
		written := make(chan struct{})
		go func() {
			writer.Exec(t.Context(), "SELECT pg_logical_emit_message(true, 'leases', '')")
			close(written)
		}()
		wait.Until(t, "a commit waits", waiting("SyncRep"))
		execute(t, s, fmt.Sprintf("SELECT pg_cancel_backend(%d)", writer.PgConn().PID()))
		wait.Closed(t, "the commit has ended", written)

		run(t, holder, "ROLLBACK")
		if name == "Confirm" {
			wait.Until(t, "the commit of Confirm waits", func() bool {
				select {
				case <-returned:
					t.Fatalf("Confirm has not waited: revision %q, %v", e.Revision, err)
				default:
				}
				return waiting("SyncRep")()
			})
			cancel()
			wait.Closed(t, "Confirm returns", returned)
			storetest.Fails(t, "Confirm", err, driver.ErrUnavailable)
		} else if wait.Closed(t, "Get returns", returned); err != nil || e.Revision != rev {
			t.Errorf("Get: %q, %v", e.Revision, err)
		}
		set(t, s, "synchronous_standby_names", "")
		wait.Until(t, "nothing waits", func() bool { return !waiting("SyncRep")() })
	}
}

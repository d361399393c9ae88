package pglease_test

import (
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

// TestConfirmWrites has a server without standbys. Confirm writes to the log in any case: a session can be
// the last to hear of standbys that were named, and the commit itself looks.
func TestConfirmWrites(t *testing.T) {
	t.Parallel()
	s := server(t, pgtest.Config{})
	st := storetest.Prepare(t, pglease.Open, storetest.With(s.Address(), "table=test.leases"))
	rev := storetest.Put(t, st, "a", "x", driver.None)
	const end = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn"
	before := scan[int64](t, s, end)
	const looks = 10
	for range looks {
		if e, err := st.Confirm(t.Context(), "a"); err != nil || e.Revision != rev {
			t.Fatalf("Confirm: %q, %v", e.Revision, err)
		}
	}
	if wrote := scan[int64](t, s, end) - before; wrote < 60*looks { // a message and a commit
		t.Errorf("%d looks wrote %d bytes of the log", looks, wrote)
	}
}

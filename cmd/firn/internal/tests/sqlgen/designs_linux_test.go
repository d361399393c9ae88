package sqlgen_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/nanoflake"
)

// modulo is a generator as many databases have: the clock above a sequence modulo 4096.
const modulo = `CREATE SCHEMA firn;
	CREATE SEQUENCE firn.nanoflake_word;
	CREATE FUNCTION firn.nanoflake_clock() RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT 0::bigint';
	CREATE FUNCTION firn.next_nanoflake() RETURNS bigint LANGUAGE sql VOLATILE AS $$
		SELECT ((firn.nanoflake_clock() - 1609459200000) << 22) | (7 << 12) | (nextval('firn.nanoflake_word') % 4096) $$`

// TestBadDesigns: generators that are known to repeat IDs do so under four connections.
func TestBadDesigns(t *testing.T) {
	const exclusive = "      perform pg_advisory_xact_lock(1718186606, 1);\n"
	for name, up := range map[string]string{
		"nextval modulo 4096": modulo,
		// Without the lock, setval comes late, from a reading that other sessions have passed.
		"setval without the lock": slow(mutant(t, exclusive, ""), "0.002"),
	} {
		t.Run(name, func(t *testing.T) {
			addr := database(t, sharedServer(t), up)
			conn := open(t, addr)
			if up == modulo {
				do(t, conn, fixedClock) // else a slow machine makes less than 4096 IDs in a millisecond
			} else {
				grant(t, conn, 7, 1, forever)
			}
			const query = "SELECT firn.next_nanoflake() FROM generate_series(1, 2000)"
			for deadline := time.Now().Add(time.Minute); ; {
				lists := make([][]int64, 4)
				var all sync.WaitGroup
				for i := range lists {
					conn := open(t, addr)
					all.Go(func() {
						defer conn.Close(t.Context())
						var err error
						if lists[i], err = some(t.Context(), conn, nil, query); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if twice := duplicates(lists...); len(twice) > 0 {
					t.Logf("%d IDs come twice", len(twice))
					return
				}
				if t.Failed() || time.Now().After(deadline) {
					t.Fatal("no ID comes twice")
				}
			}
		})
	}
}

// slow returns the script with a pause between the reading of the sequence and setval.
func slow(up, seconds string) string {
	const before = "      if word >> 12 < tick and"
	return strings.Replace(up, before, "      perform pg_sleep("+seconds+");\n"+before, 1)
}

// TestSharedLock: while a session raises the sequence to a tick, another session takes the words
// before the tick, and the first words of the tick. Without the shared lock, an ID comes twice.
func TestSharedLock(t *testing.T) {
	const shared = "      perform pg_advisory_xact_lock_shared(1718186606, 1);\n"
	for name, test := range map[string]struct {
		up       string
		repeated bool
	}{
		"right":            {slow(sqlgen.Up, "0.5"), false},
		"without the lock": {slow(mutant(t, shared, ""), "4"), true}, // the other call comes within the pause
	} {
		addr := database(t, sharedServer(t), test.up)
		conn, other := open(t, addr), open(t, addr)
		do(t, conn, fixedClock)
		const tick = 1700000000000 - nanoflake.DefaultEpochMilli
		grant(t, conn, 7, tick-10, forever)
		do(t, conn, fmt.Sprintf("SELECT setval('firn.nanoflake_word', %d)", int64(tick)<<12-3))
		var slowly, quickly []int64
		var done sync.WaitGroup
		done.Go(func() {
			var err error
			if slowly, err = some(t.Context(), other, nil, "SELECT firn.next_nanoflake()"); err != nil {
				t.Error(err)
			}
		})
		eventually(t, "raising the sequence", func() bool {
			return value[bool](t, conn, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database())")
		})
		quickly, err := some(t.Context(), conn, nil, "SELECT firn.next_nanoflake()")
		if err != nil {
			t.Error(name, err)
		}
		done.Wait()
		if repeated := len(duplicates(slowly, quickly)) > 0; repeated != test.repeated || len(slowly)+len(quickly) != 2 {
			t.Errorf("%s: %v and %v", name, slowly, quickly)
		}
	}
}

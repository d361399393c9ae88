package pglease

import (
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

// findings fails the test unless Inspect finds what has these words, in this order, and nothing
// else; the first of it loses changes, or not.
func findings(t testing.TB, s *Store, loses bool, words ...string) {
	t.Helper()
	found, err := s.Inspect(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	if len(found) != len(words) {
		t.Errorf("Inspect finds %+v, want what has %q", found, words)
		return
	}
	for i, f := range found {
		if !strings.Contains(f.Text, words[i]) || strings.HasSuffix(f.Text, ".") {
			t.Errorf("Inspect finds %+v, want what has %q", f, words[i])
		}
		if testing.Verbose() {
			t.Logf("%+v", f)
		}
	}
	if len(found) > 0 && found[0].Loses != loses {
		t.Errorf("Inspect finds %+v, want Loses to be %v", found[0], loses)
	}
}

func TestInspect(t *testing.T) {
	conn := connect(t, given())
	schema := schema(t, conn)
	addr := given("table=" + schema + ".leases")
	s := mustOpen(t, addr)
	findings(t, s, false, "there is no table "+schema+".leases")
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	findings(t, s, false)
	run(t, conn, "ALTER TABLE %q.leases SET UNLOGGED", schema)
	findings(t, s, true, "is not logged")
	run(t, conn, "ALTER TABLE %q.leases SET LOGGED", schema)
	findings(t, mustOpen(t, as(addr, role(t, conn, "SUPERUSER", "synchronous_commit = off"))), false, "synchronous_commit is off")
	findings(t, mustOpen(t, as(addr, role(t, conn, "SUPERUSER", "synchronous_commit = remote_apply"))), false)

	s.Close()
	_, err := s.Inspect(t.Context())
	fails(t, "Inspect after Close", err, driver.ErrUnavailable, "closed")
	_, err = s.Now(t.Context())
	fails(t, "Now after Close", err, driver.ErrUnavailable, "closed")
	fails(t, "Prepare after Close", s.Prepare(t.Context()), driver.ErrUnavailable, "closed")
}

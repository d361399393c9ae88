package sql

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestUpgrade: a script replaces the functions of version 1 in place. Indexes and views that use the
// functions stay, with the same results.
func TestUpgrade(t *testing.T) {
	for _, d := range []*dialect{postgres, mariadb} {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d := d.fresh(t)
			frozen, err := os.ReadFile("../../sqlscripts/testdata/v1/" + d.command + ".sql")
			testkit.OK(t, err)
			d.apply(t, string(frozen))
			made := d.objects(t)
			s := setups()[0]
			d.run(t, "CREATE TABLE orders (id BIGINT)")
			var rows [][]any
			for _, b := range s.binaries(t, 5000) {
				rows = append(rows, []any{s.value(b)})
			}
			d.load(t, d, "orders", []string{"id"}, rows)
			times := "SELECT " + d.call(t, "", s.Name(), "time", "id") + " AS made, " + d.call(t, "", s.Name(), "text", "id") + " AS txt FROM orders"
			d.run(t, "CREATE VIEW times AS "+times)
			if d.dialect == postgres {
				d.run(t, "CREATE INDEX by_time ON orders (firn.nanoflake_time(id)); CREATE INDEX by_text ON orders (firn.nanoflake_text(id))")
			}
			before := d.strings(t, "SELECT txt FROM times ORDER BY made, txt")

			up := script(t, d.command)
			d.apply(t, up)
			if after := d.strings(t, "SELECT txt FROM times ORDER BY made, txt"); !slices.Equal(after, before) {
				t.Error("the view has other rows")
			}
			d.run(t, "DROP VIEW times")
			if d.dialect != postgres {
				return
			}
			if after := d.objects(t); !slices.Equal(after, made) {
				t.Errorf("%s, not %s", after, made)
			}
			// The index holds what the functions return now.
			d = d.session()
			for _, column := range []string{"firn.nanoflake_time(id)", "firn.nanoflake_text(id)"} {
				count := func(by string) string {
					d.run(t, "SET enable_seqscan = off; SET enable_sort = off; SET enable_bitmapscan = off; SET enable_indexscan = "+by)
					return d.strings(t, "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT FROM orders i WHERE i.id = o.id AND "+
						strings.ReplaceAll(column, "(id)", "(i.id)")+" = "+strings.ReplaceAll(column, "(id)", "(o.id)")+")")[0]
				}
				if with, without, want := count("on"), count("off"), fmt.Sprint(len(rows)); with != want || without != want {
					t.Errorf("%s: %s rows by the index, %s without", column, with, without)
				}
			}
			// A script of an older version changes nothing.
			d.run(t, "CREATE OR REPLACE FUNCTION firn.version() RETURNS int LANGUAGE sql AS 'SELECT 2'")
			if _, err := d.ExecContext(t.Context(), up); err == nil || !strings.Contains(err.Error(), "the functions have version 2, this script has version 1") {
				t.Errorf("an older script: %v", err)
			}
		})
	}
}

// TestOtherSettings: a script does not change the epoch or the widths of functions that exist. An
// index may hold results of the functions.
func TestOtherSettings(t *testing.T) {
	d := postgres.fresh(t).session()
	d.install(t)
	before := d.strings(t, "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'firn'::regnamespace ORDER BY proname")
	for want, words := range map[string][]string{
		"firn.nanoflake_epoch()":    {"nanoflake", "--epoch", "2020-01-01"},
		"firn.snowflakesi_layout()": {"snowflakesi", "--machine-bits", "3"},
	} {
		_, err := d.ExecContext(t.Context(), script(t, append([]string{"postgres"}, words...)...))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", words, err)
		}
		d.run(t, "ROLLBACK")
	}
	if after := d.strings(t, "SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'firn'::regnamespace ORDER BY proname"); !slices.Equal(after, before) {
		t.Error("the functions have changed")
	}
}

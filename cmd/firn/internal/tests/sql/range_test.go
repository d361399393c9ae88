package sql

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/root"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// firnRun returns what firn prints.
func firnRun(t testing.TB, args ...string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	testkit.OK(t, err)
	defer out.Close()
	code := root.Run(args, os.Stdin, out, out)
	text, err := os.ReadFile(out.Name())
	if code != 0 || err != nil {
		t.Fatalf("firn %q: exit code %d, %v: %s", args, code, err, text)
	}
	return string(text)
}

// A ranged is what firn range --json prints.
type ranged struct {
	First, Last struct {
		Text, Int, Hex, UUID string
		Time                 time.Time
	}
	Where map[string]map[string]string
}

func (s setup) ranged(t testing.TB, from, to time.Time, more ...string) (r ranged) {
	t.Helper()
	args := append([]string{"range", s.Name(), "--from", from.Format(time.RFC3339Nano), "--to", to.Format(time.RFC3339Nano), "--json"}, s.flags...)
	testkit.OK(t, json.Unmarshal([]byte(firnRun(t, append(args, more...)...)), &r))
	return r
}

// rangeSetups are all formats, and other epochs and widths.
func rangeSetups(t testing.TB) []setup {
	all := setups()
	epoch := time.Date(2020, 2, 29, 0, 0, 0, 0, time.UTC)
	for _, s := range all {
		if s.Descriptor().Has("epoch") {
			s.set.Epoch, s.flags = epoch, []string{"--epoch", "2020-02-29"}
			all = append(all, s)
		}
		if s.Descriptor().Has("clock-bits") {
			s.set.ClockBits, s.set.MachineBits, s.flags = 41, 2, append(s.flags, "--clock-bits", "41", "--machine-bits", "2")
			all = append(all, s)
		}
	}
	return all
}

// TestRangeEnds: the ends of an interval are First and Last of the format's package.
func TestRangeEnds(t *testing.T) {
	for _, s := range rangeSetups(t) {
		sh, err := s.Descriptor().Of(shape.Settings(s.set))
		testkit.OK(t, err)
		from, to := sh.Start(), sh.End()
		if to.Year() > 9999 {
			to = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		}
		middle := time.Date(2026, 7, 1, 10, 0, 0, 123_456_789, time.UTC)
		for _, c := range [][2]time.Time{
			{from, to}, {from, from.Add(1)}, {to.Add(-1), to}, {middle, middle.Add(1)}, {middle, middle.Add(time.Millisecond)}, {middle, middle.Add(time.Hour)},
			{middle.Truncate(time.Second), middle.Truncate(time.Second).Add(4 * time.Millisecond)},
		} {
			r := s.ranged(t, c[0], c[1])
			first, _ := s.libraryBounds(c[0])
			_, last := s.libraryBounds(c[1].Add(-1))
			for hexa, want := range map[string]any{r.First.Hex: first, r.Last.Hex: last} {
				id := must(hex.DecodeString(hexa))
				if got := s.value(id); !equal(got, want) {
					t.Errorf("%s, %v to %v: %v, not %v", s, c[0], c[1], got, want)
				}
				info := s.inspect(t, id)
				if at := info.Time; at.After(c[1]) || at.Before(c[0].Add(-4*time.Millisecond)) {
					t.Errorf("%s, %v to %v: an ID of %v", s, c[0], c[1], at)
				}
			}
		}
	}
}

func equal(a, b any) bool {
	x, ok := a.([]byte)
	if !ok {
		return a == b
	}
	return bytes.Equal(x, b.([]byte))
}

// A rangeColumn is a column that firn range writes a condition for.
type rangeColumn struct {
	kind, typ string
	indexed   bool // the condition uses the index of the column
}

var rangeColumns = map[*dialect][]rangeColumn{
	postgres: {{"integer", "bigint", true}, {"text", `text COLLATE "C"`, true}, {"text", `varchar(40) COLLATE "C"`, true}, {"text", `text COLLATE "en-x-icu"`, false}, {"text", "text", false},
		{"bytes", "bytea", true}, {"uuid", "uuid", true}},
	mariadb: {{"integer", "BIGINT", true}, {"integer", "BIGINT UNSIGNED", true}, {"text", "VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin", true}, {"text", "VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", true},
		{"bytes", "VARBINARY(20)", true}, {"uuid", "UUID", true}},
	lite: {{"integer", "INTEGER", true}, {"text", "TEXT", true}, {"bytes", "BLOB", true}},
}

// edges returns IDs that generators make at the ends of an interval, and the IDs next to its ends.
func (s setup) edges(t testing.TB, r ranged, from, to time.Time) (all [][]byte) {
	t.Helper()
	d := s.Descriptor()
	unit := must(d.Of(shape.Settings(s.set))).Unit
	for _, at := range []time.Time{from.Add(-time.Hour), from.Add(-unit), from, from.Add(unit), from.Add(to.Sub(from) / 2), to.Add(-unit), to, to.Add(unit), to.AddDate(1, 0, 0)} {
		for _, worker := range []int{0, 1} {
			if d.Worker == "" && worker > 0 {
				continue
			}
			g, err := d.New(shape.Recipe{Settings: shape.Settings(s.set), Worker: worker, Clock: func() time.Time { return at }, Meta: byte(255 * worker)})
			testkit.OK(t, err)
			for range 5 {
				id, err := g.TryAppendBinary(nil, 1)
				if err != nil {
					break // a random sequence is at its end
				}
				all = append(all, id)
			}
		}
	}
	for _, end := range []string{r.First.Hex, r.Last.Hex} {
		for _, step := range []int64{-1, 0, 1} {
			v, _ := new(big.Int).SetString(end, 16)
			all = append(all, v.Add(v, big.NewInt(step)).FillBytes(make([]byte, d.Size)))
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// as returns an ID as a column of the kind has it.
func (s setup) as(t testing.TB, kind string, id []byte) any {
	t.Helper()
	switch kind {
	case "integer":
		return int64(binary.BigEndian.Uint64(id))
	case "text":
		return s.inspect(t, id).ID
	case "uuid":
		return string(must(s.Descriptor().AppendUUID(nil, id)))
	}
	return id
}

// TestRangeSelects: the conditions select exactly the IDs of the interval, in columns of each kind of each
// database, and use the index.
func TestRangeSelects(t *testing.T) {
	from := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	to := from.Add(15 * time.Minute)
	each(t, func(t *testing.T, d database) {
		for n, s := range rangeSetups(t) {
			for m, c := range rangeColumns[d.dialect] {
				r := s.ranged(t, from, to, "--id", fmt.Sprintf("r_%d_%d.select", n, m))
				where, ok := r.Where[d.command][c.kind]
				if holds := c.kind != "uuid" && (c.kind != "integer" || s.Descriptor().Integer()) || c.kind == "uuid" && s.Descriptor().AppendUUID != nil; ok != holds {
					t.Errorf("%s: a condition for %s: %v", s, c.kind, ok)
				}
				if !ok {
					continue
				}
				quote := map[*dialect]string{postgres: `"`, mariadb: "`", lite: `"`}[d.dialect]
				name := quote + "select" + quote
				table := fmt.Sprintf("r_%d_%d", n, m)
				d.run(t, fmt.Sprintf("CREATE TABLE %s (%s %s PRIMARY KEY, n INTEGER)", table, name, c.typ))
				ids := s.edges(t, r, from, to)
				var want []string
				tx, err := d.BeginTx(t.Context(), nil)
				testkit.OK(t, err)
				defer tx.Rollback()
				for n, id := range ids {
					mark := map[*dialect]string{postgres: "$1", mariadb: "?", lite: "?1"}[d.dialect]
					if _, err := tx.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO %s VALUES (%s, %d)", table, mark, n), s.as(t, c.kind, id)); err != nil {
						t.Fatal(s, c.typ, err)
					}
					if at := s.inspect(t, id).Time; !at.Before(from) && at.Before(to) {
						want = append(want, fmt.Sprint(n))
					}
				}
				testkit.OK(t, tx.Commit())
				got := d.strings(t, "SELECT n FROM "+table+" WHERE "+where+" ORDER BY n")
				if !slices.Equal(got, want) || len(want) < 5 || len(want) == len(ids) {
					t.Errorf("%s, %s: %s selects %s, not %s", s, c.typ, where, got, want)
				}
				if c.indexed {
					d.searches(t, table, where)
				}
			}
		}
	})
}

// TestRangeOfLengths: conditions for the texts of snowflakesi, which have 1 to 16 digits, select exactly the IDs of the
// interval, and use the index.
func TestRangeOfLengths(t *testing.T) {
	epoch := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	each(t, func(t *testing.T, d database) {
		for m, c := range rangeColumns[d.dialect] {
			if c.kind != "text" {
				continue
			}
			table := fmt.Sprintf("lengths_%d", m)
			d.run(t, fmt.Sprintf("CREATE TABLE %s (id %s PRIMARY KEY, n BIGINT)", table, c.typ))
			var ids []int64
			for p := int64(1); p <= 1_000_000_000_000_000; p *= 10 {
				ids = append(ids, p-1, p, p+1, 2*p, 5*p+1)
			}
			slices.Sort(ids)
			ids = slices.Compact(ids)[1:] // 0 is no ID
			var rows []string
			for _, id := range ids {
				rows = append(rows, fmt.Sprintf("('%d', %[1]d)", id))
			}
			d.run(t, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
			for _, ends := range [][2]time.Duration{
				{0, 1}, {0, time.Second}, {time.Millisecond, time.Minute}, {5 * time.Millisecond, 5 * time.Hour}, {time.Hour, 24 * time.Hour},
				{0, 60_000 * time.Hour}, {400 * time.Hour, 60_000 * time.Hour}, {60_000 * time.Hour, 70_000 * time.Hour},
			} {
				var r ranged
				testkit.OK(t, json.Unmarshal([]byte(firnRun(t, "range", "snowflakesi", "--epoch", "2020-01-01", "--json",
					"--from", epoch.Add(ends[0]).Format(time.RFC3339Nano), "--to", epoch.Add(ends[1]).Format(time.RFC3339Nano))), &r))
				first, last := must(strconv.ParseInt(r.First.Int, 10, 64)), must(strconv.ParseInt(r.Last.Int, 10, 64))
				where := r.Where[d.command]["text"]
				var want []string
				for _, id := range ids {
					if id >= first && id <= last {
						want = append(want, fmt.Sprint(id))
					}
				}
				if got := d.strings(t, "SELECT n FROM "+table+" WHERE "+where+" ORDER BY n"); !slices.Equal(got, want) || len(want) == 0 {
					t.Errorf("%s: %s selects %s, not %s", c.typ, where, got, want)
				}
				if c.indexed {
					d.searches(t, table, where)
				}
			}
		}
	})
}

// searches checks that a query searches the primary key.
func (d database) searches(t testing.TB, table, where string) {
	t.Helper()
	query, want := "EXPLAIN SELECT n FROM "+table+" WHERE "+where, ""
	switch d.dialect {
	case postgres:
		d = d.session()
		d.run(t, "SET enable_seqscan = off")
		want = "Index Cond:"
	case mariadb:
		query = strings.Replace(query, "EXPLAIN SELECT", "EXPLAIN FORMAT=JSON SELECT", 1)
		query = strings.Replace(query, " WHERE", " FORCE INDEX (PRIMARY) WHERE", 1)
		want = `"access_type": "range"`
	case lite:
		query = strings.Replace(query, "EXPLAIN", "EXPLAIN QUERY PLAN", 1)
		rows, err := d.QueryContext(t.Context(), query)
		testkit.OK(t, err)
		defer rows.Close()
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			testkit.OK(t, rows.Scan(&id, &parent, &unused, &step))
			plan = append(plan, step)
		}
		testkit.OK(t, rows.Err())
		is := func(prefix string) bool {
			return slices.ContainsFunc(plan, func(step string) bool { return strings.HasPrefix(step, prefix) })
		}
		if !is("SEARCH ") || is("SCAN ") {
			t.Errorf("%s: %s", query, strings.Join(plan, "\n"))
		}
		return
	}
	if plan := strings.Join(d.strings(t, query), "\n"); !strings.Contains(plan, want) {
		t.Errorf("%s: %s", query, plan)
	}
}

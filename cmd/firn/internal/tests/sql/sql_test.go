package sql

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/snowflakesi"
)

// randomIDs returns how many random IDs of each format tests compare.
func randomIDs() int {
	switch {
	case testing.Short():
		return 2000
	case services.InFull():
		return 100_000
	}
	return 10_000
}

// each runs a test on a fresh database of each dialect.
func each(t *testing.T, test func(t *testing.T, d database)) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			test(t, d.fresh(t))
		})
	}
}

// TestAgree: the functions agree with the library on vectors, boundaries and random IDs.
func TestAgree(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		d.install(t)
		for _, s := range setups() {
			t.Run(s.Name(), func(t *testing.T) {
				if differences := d.compare(t, s, script(t, d.command, s.Name()), randomIDs()); len(differences) > 0 {
					t.Errorf("%s", first(differences))
				}
			})
		}
	})
}

// TestSettings: the functions agree with the library with other epochs and widths.
func TestSettings(t *testing.T) {
	format := func(name string) inspect.Format { f, _ := inspect.Lookup(name); return f }
	epoch := func(s string) time.Time { return must(time.Parse(time.RFC3339, s)) }
	all := []setup{
		{format("nanoflake"), inspect.Settings{Epoch: epoch("1960-02-29T12:34:56.789Z")}, []string{"--epoch", "1960-02-29T12:34:56.789Z"}},
		{format("ulidflake"), inspect.Settings{Epoch: epoch("9900-01-01T00:00:00Z")}, []string{"--epoch", "9900-01-01"}},
		{format("ulidflake-scalable"), inspect.Settings{Epoch: time.UnixMilli(1)}, []string{"--epoch", "1970-01-01T00:00:00.001Z"}},
		{format("snowflakesi"), inspect.Settings{ClockBits: 41, MachineBits: snowflakesi.NoMachineBits}, []string{"--clock-bits", "41", "--machine-bits", "0"}},
		{format("snowflakesi"), inspect.Settings{MachineBits: 13, Epoch: epoch("2025-01-01T00:00:00Z")}, []string{"--machine-bits", "13", "--epoch", "2025-01-01"}},
	}
	each(t, func(t *testing.T, d database) {
		for _, s := range all {
			t.Run(s.String(), func(t *testing.T) {
				words := append([]string{s.Name()}, s.flags...)
				text := d.install(t, words...)
				if differences := d.compare(t, s, text, 1000); len(differences) > 0 {
					t.Errorf("%s", first(differences))
				}
				if d.dialect != lite {
					d.run(t, script(t, append([]string{d.command, "--down"}, words...)...))
				}
			})
		}
	})
}

// A reject is an input of reject.json that the library refuses.
type reject struct {
	Why, Form, Input, Hex, Error string
	Repeat, Offset               int
}

// TestRejects: the functions refuse what the library's test data says is not an ID.
func TestRejects(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		d.install(t)
		for _, s := range setups() {
			if s.Name() == "sno" {
				continue // has no such test data
			}
			text := script(t, d.command, s.Name())
			found := 0
			for _, r := range read[reject](t, filepath.Join(s.folder(), "reject.json")) {
				input := r.Input
				if r.Hex != "" {
					input = string(must(hex.DecodeString(r.Hex)))
				}
				input = strings.Repeat(input, max(r.Repeat, 1))
				function, arg := "parse", any(input)
				switch {
				case r.Form == "text":
				case r.Form == "int" && s.integer():
					function, arg = "text", input
					if d.dialect != mariadb { // which takes any value there
						var v int64
						fmt.Sscan(input, &v)
						arg = v
					}
				case r.Form == "binary" && !s.integer():
					function, arg = "text", []byte(input)
				default:
					continue
				}
				found++
				got := d.call(t, text, s.Name(), function, map[*dialect]string{postgres: "$1", mariadb: "?", lite: "?1"}[d.dialect])
				var v any
				err := d.QueryRowContext(t.Context(), "SELECT "+got, arg).Scan(&v)
				if d.dialect == lite && (err != nil || v != nil) || d.dialect != lite && err == nil {
					t.Errorf("%s, %s: %v, %v", s.Name(), r.Why, v, err)
				}
			}
			if found < 20 {
				t.Errorf("%s: only %d inputs", s.Name(), found)
			}
		}
	})
}

// TestInvalid: a value that is not an ID raises an error with the fault, and never gives another ID,
// whatever the mode of the session.
func TestInvalid(t *testing.T) {
	d := mariadb.fresh(t).session()
	d.install(t)
	for _, mode := range []string{"", "STRICT_ALL_TABLES", "NO_BACKSLASH_ESCAPES,ANSI_QUOTES", "NO_UNSIGNED_SUBTRACTION,PIPES_AS_CONCAT"} {
		d.run(t, "SET SESSION sql_mode = ?", mode)
		for _, value := range []string{
			"-1", "9223372036854775808", "18446744073709551615", "1e20", "0.1e0", "1.5", "1.0", "'07en9rb30swmf'", "''", "' 1'", "'1 '", "CONCAT(x'31', x'00')", "TRUE + 0.5", "'99999999999999999999'",
			"REPEAT('1', 1000)", "CONCAT('1', REPEAT(' ', 1000))", "_utf8mb4'\u0661'",
		} {
			var v sql.NullString
			err := d.QueryRowContext(t.Context(), "SELECT firn_nanoflake_sequence("+value+")").Scan(&v)
			var e *mysql.MySQLError
			if !errors.As(err, &e) || !strings.Contains(e.Message, "value is not in 0 to 9223372036854775807") && !strings.Contains(e.Message, "Data too long") && !strings.Contains(e.Message, "Incorrect string value") {
				t.Errorf("mode %q: %s: %v, %v", mode, value, v, err)
			}
		}
		for _, value := range []string{"x''", "x'00'", "REPEAT('a', 9)", "REPEAT('a', 11)", "REPEAT('a', 1000)"} {
			var v sql.NullString
			err := d.QueryRowContext(t.Context(), "SELECT firn_sno_meta("+value+")").Scan(&v)
			if err == nil || !strings.Contains(err.Error(), "not 10 bytes") && !strings.Contains(err.Error(), "Data too long") {
				t.Errorf("mode %q: %s: %v, %v", mode, value, v, err)
			}
		}
		for query, want := range map[string]string{
			"firn_nanoflake_text(CAST(974901554009075751 AS UNSIGNED))": "07en9rb30swmf", "firn_nanoflake_text(NULL)": "", "firn_nanoflake_parse(NULL)": "",
			"firn_nanoflake_first(NULL)": "", "firn_scru160_parse(NULL)": "", "firn_sno_from_uuid(NULL)": "", "firn_scru160_time(NULL)": "",
			"firn_nanoflake_parse(CONVERT('07en9rb30swmf' USING ucs2))": "974901554009075751",
		} {
			var v sql.NullString
			if err := d.QueryRowContext(t.Context(), "SELECT "+query).Scan(&v); err != nil || v.String != want {
				t.Errorf("mode %q: %s: %v, %v", mode, query, v, err)
			}
		}
	}
	err := d.QueryRowContext(t.Context(), "SELECT firn_scru160_time(UNHEX(REPEAT('ff', 20)))").Scan(new(sql.NullString))
	if err == nil || !strings.Contains(err.Error(), "after the year 9999") {
		t.Errorf("a time after the year 9999: %v", err)
	}
}

// TestErrors: an error of PostgreSQL has a code and a remedy.
func TestErrors(t *testing.T) {
	d := postgres.fresh(t)
	d.install(t)
	for query, want := range map[string]string{
		"firn.nanoflake_time(-1)":                                                 `nanoflake: "-1": value is not in 0 to 9223372036854775807`,
		"firn.nanoflake_parse('7en9rb30swmf')":                                    `nanoflake: "7en9rb30swmf": length is 12, not 13`,
		"firn.ulidflake_parse('00CMXB6TAK4SO')":                                   `ulidflake: "00CMXB6TAK4SO": offset 12: character 'O' is not in Crockford's base-32`,
		"firn.snowflakesi_time(9007199254740992)":                                 `snowflakesi: "9007199254740992": value is not in 0 to 9007199254740991`,
		`firn.scru160_time('\x00')`:                                               `scru160: "00": length is 1, not 20 bytes`,
		"firn.sno_parse('CUFSEKAQQUDBOBIW')":                                      `sno: "CUFSEKAQQUDBOBIW": offset 0: character 'C' is not in [2-9a-x]`,
		"firn.sno_from_uuid(gen_random_uuid())":                                   `of the UUID is 0x`,
		"firn.nanoflake_parse(repeat('é', 1000))":                                 `length is 2000, not 13`,
		"firn.snowflakesi_parse('1' COLLATE \"C\")||'x'||firn.nanoflake_text(-1)": `nanoflake: "-1": value`,
	} {
		_, err := d.ExecContext(t.Context(), "SELECT "+query)
		var e *pgconn.PgError
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) || e.Code != "22P02" || !strings.HasPrefix(e.Hint, "Use ") {
			t.Errorf("%s: %v", query, err)
		}
	}
	// The library reads no text by the rules of a language.
	d.run(t, `CREATE COLLATION public.folding (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`)
	if got := d.strings(t, `SELECT firn.nanoflake_parse('07EN9rb30swmf' COLLATE public.folding)`); got[0] != "974901554009075751" {
		t.Errorf("a text with a collation that is not deterministic is %s", got)
	}
	if _, err := d.ExecContext(t.Context(), `SELECT firn.nanoflake_parse('07én9rb30swm' COLLATE public.folding)`); err == nil {
		t.Error("a letter with an accent is read")
	}
}

// TestInfinity: a range from or to infinity has all IDs on its side.
func TestInfinity(t *testing.T) {
	d := postgres.fresh(t)
	d.install(t)
	for _, s := range setups() {
		b := s.binaries(t, 0)
		for query, want := range map[string][]byte{"first('-infinity')": b[0], "last('infinity')": b[1]} {
			got := d.strings(t, "SELECT "+shownID(d, s, "firn."+ident(s.Name())+"_"+query))
			shown := hex.EncodeToString(want)
			if s.integer() {
				shown = fmt.Sprint(s.value(want))
			}
			if got[0] != shown {
				t.Errorf("%s of %s is %s, not %s", query, s.Name(), got[0], shown)
			}
		}
	}
}

// TestRange: a range of times uses the index on the IDs, and finds what the library finds.
func TestRange(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		text := d.install(t)
		start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
		nano, _ := inspect.Lookup("nanoflake")
		snoFormat, _ := inspect.Lookup("sno")
		for _, s := range []setup{{Format: nano}, {Format: snoFormat}} {
			id, n := "BIGINT", 100_000
			if !s.integer() {
				id = d.bytes
			} else if d.dialect == postgres {
				n = 1_000_000
			}
			table := "orders_" + ident(s.Name())
			d.run(t, "CREATE TABLE "+table+" (id "+id+" PRIMARY KEY, note "+d.text+")")
			rows := make([][]any, n)
			values := make([]any, n)
			for i := range rows {
				at := start.Add(time.Duration(i) * 7 * time.Millisecond)
				values[i], _ = s.bounds(t, at)
				if v, ok := values[i].(int64); ok {
					values[i] = v | int64(i&4095)
				}
				rows[i] = []any{values[i], "x"}
			}
			d.load(t, d, table, []string{"id", "note"}, rows)
			if d.dialect == postgres {
				d.run(t, "ANALYZE "+table)
			}
			from, to := start.Add(13*time.Second+time.Microsecond), start.Add(14*time.Second)
			low, _ := s.bounds(t, from)
			_, high := s.bounds(t, to)
			want := 0
			for _, v := range values {
				if notBefore(v, low) && notBefore(high, v) {
					want++
				}
			}
			if d.dialect == lite {
				text = script(t, "sqlite", s.Name())
			}
			where := " FROM " + table + " WHERE id BETWEEN " + d.call(t, text, s.Name(), "first", instantLiteral(d, from)) + " AND " + d.call(t, text, s.Name(), "last", instantLiteral(d, to))
			if got := d.strings(t, "SELECT COUNT(*)"+where); got[0] != fmt.Sprint(want) || want < 100 {
				t.Errorf("%s: %s rows from %v to %v, not %d", s.Name(), got, from, to, want)
			}
			plan := d.plan(t, "SELECT note"+where)
			t.Log(plan)
			if !regexp.MustCompile(`Index Scan using orders_|\brange PRIMARY\b|SEARCH orders_\w+ USING (INDEX|INTEGER PRIMARY KEY)`).MatchString(plan) {
				t.Errorf("%s: no index: %s", s.Name(), plan)
			}
		}
	})
}

// notBefore reports whether an ID is not before another.
func notBefore(a, b any) bool {
	if v, ok := a.(int64); ok {
		return v >= b.(int64)
	}
	return string(a.([]byte)) >= string(b.([]byte))
}

// instantLiteral returns a time in SQL.
func instantLiteral(d database, at time.Time) string {
	if d.dialect == lite {
		return fmt.Sprint(at.UnixMilli())
	}
	text := at.Format("2006-01-02 15:04:05.000000")
	if d.dialect == postgres {
		return "timestamptz '" + text + "+00'"
	}
	return "'" + text + "'"
}

// plan returns what the database says of how it runs a query.
func (d database) plan(t testing.TB, query string) string {
	t.Helper()
	words := map[*dialect]string{postgres: "EXPLAIN (COSTS OFF) ", mariadb: "EXPLAIN ", lite: "EXPLAIN QUERY PLAN "}[d.dialect]
	rows, err := d.QueryContext(t.Context(), words+query)
	testkit.OK(t, err)
	defer rows.Close()
	columns, _ := rows.Columns()
	var lines []string
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		dst := make([]any, len(columns))
		for i := range values {
			dst[i] = &values[i]
		}
		testkit.OK(t, rows.Scan(dst...))
		var words []string
		for i, v := range values {
			if columns[i] != "possible_keys" {
				words = append(words, v.String)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

// TestIndexes: an index on a function serves a query, also of workers in parallel, and PostgreSQL
// puts the expressions of the functions in place of their calls.
func TestIndexes(t *testing.T) {
	d := postgres.fresh(t)
	d.install(t)
	d.run(t, "CREATE TABLE orders (id BIGINT, u BYTEA)")
	var rows [][]any
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 100_000 {
		rows = append(rows, []any{int64(must(nanoflake.FromTime(start.Add(time.Duration(i)*time.Second), time.Time{}, i&1023, 0))), nil})
	}
	d.load(t, d, "orders", []string{"id", "u"}, rows)
	d.run(t, `CREATE INDEX by_time ON orders (firn.nanoflake_time(id)); CREATE INDEX by_text ON orders (firn.nanoflake_text(id)); ANALYZE orders;
		ALTER TABLE orders ADD COLUMN made TIMESTAMPTZ GENERATED ALWAYS AS (firn.nanoflake_time(id)) STORED`)
	// As in docs/sql-functions.md.
	d.run(t, `CREATE INDEX orders_by_day ON orders (((firn.nanoflake_time(id) AT TIME ZONE 'UTC')::date));
		CREATE INDEX orders_by_generator ON orders (firn.nanoflake_generator_id(id));
		ALTER TABLE orders ADD CHECK (firn.nanoflake_check(id) = id AND id <> 0)`)
	for _, id := range []int64{0, -1} {
		if _, err := d.ExecContext(t.Context(), "INSERT INTO orders (id) VALUES ($1)", id); err == nil {
			t.Errorf("the table took %d", id)
		}
	}
	for query, index := range map[string]string{
		"SELECT * FROM orders WHERE firn.nanoflake_time(id) < '2026-07-01 00:00:10+00'": "by_time",
		"SELECT * FROM orders WHERE firn.nanoflake_text(id) = '04yw4lsa40000'":          "by_text",
	} {
		if plan := d.plan(t, query); !strings.Contains(plan, index) {
			t.Errorf("%s: %s", query, plan)
		}
	}
	if got := d.strings(t, "SELECT COUNT(*) FROM orders WHERE firn.nanoflake_time(id) < '2026-07-01 00:00:10+00' AND made < '2026-07-01 00:00:10+00'"); got[0] != "10" {
		t.Errorf("%s rows of the first 10 s", got)
	}
	d = d.session()
	d.run(t, "SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET enable_indexscan = off; SET enable_bitmapscan = off")
	plan := d.plan(t, "SELECT COUNT(*) FROM orders WHERE firn.nanoflake_generator_id(firn.nanoflake_parse(firn.nanoflake_text(id))) = 7")
	if !strings.Contains(plan, "Parallel Seq Scan") {
		t.Errorf("not in parallel: %s", plan)
	}
	d.run(t, "RESET ALL")
	for function, language := range d.languages(t) {
		if language != "sql" || strings.HasPrefix(function, "version") {
			continue
		}
		name, arg, _ := strings.Cut(strings.TrimSuffix(function, ")"), "(")
		args := map[string]string{"id bigint": "id", "id bytea": "u", "t timestamp with time zone": "made", "": "", "s text": "u::text",
			"id bytea, start integer, size integer": "u, 1, 2"}
		column, ok := args[arg]
		if !ok {
			t.Errorf("no test of %s", function)
			continue
		}
		if plan := d.strings(t, "EXPLAIN VERBOSE SELECT firn."+name+"("+column+") FROM orders"); strings.Contains(plan[1], "firn."+name+"(") {
			t.Errorf("%s is called: %s", function, plan[1])
		}
	}
	if got := d.strings(t, "SELECT proname FROM pg_proc WHERE pronamespace = 'firn'::regnamespace AND proname <> 'version' AND (provolatile <> 'i' OR NOT proisstrict OR proparallel <> 's')"); len(got) > 0 {
		t.Errorf("not IMMUTABLE, STRICT and PARALLEL SAFE: %s", got)
	}
}

// languages returns the language of each function in the schema firn.
func (d database) languages(t testing.TB) map[string]string {
	all := make(map[string]string)
	for _, line := range d.strings(t, "SELECT proname || '(' || pg_get_function_identity_arguments(p.oid) || ') ' || lanname FROM pg_proc p JOIN pg_language l ON l.oid = prolang WHERE pronamespace = 'firn'::regnamespace") {
		at := strings.LastIndex(line, " ")
		all[line[:at]] = line[at+1:]
	}
	return all
}

// objects returns what is in the database.
func (d database) objects(t testing.TB) []string {
	t.Helper()
	return d.strings(t, map[*dialect]string{
		postgres: "SELECT pg_describe_object('pg_proc'::regclass, oid, 0) FROM pg_proc WHERE oid >= 16384 UNION ALL SELECT nspname FROM pg_namespace WHERE oid >= 16384 AND nspname !~ '^pg_(toast_)?temp_' ORDER BY 1",
		mariadb:  "SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE() ORDER BY 1",
		lite:     "SELECT COALESCE(sql, name) FROM sqlite_schema ORDER BY 1",
	}[d.dialect])
}

// TestUpDown: a script may run twice, and the script with --down removes exactly what was made.
func TestUpDown(t *testing.T) {
	each(t, func(t *testing.T, d database) {
		if d.dialect == lite {
			liteUpDown(t, d)
			return
		}
		before := d.objects(t)
		up, down := script(t, d.command), script(t, d.command, "--down")
		d.apply(t, down) // nothing to remove
		d.apply(t, up)
		made := d.objects(t)
		d.apply(t, up)
		if again := d.objects(t); !slices.Equal(again, made) || len(made) < 60 {
			t.Errorf("after the second run: %d objects, not %d", len(again), len(made))
		}
		d.apply(t, down)
		if after := d.objects(t); !slices.Equal(after, before) {
			t.Errorf("left: %s, not %s", after, before)
		}

		// Formats by themselves.
		d.install(t, "nanoflake", "sno")
		two := d.objects(t)
		d.install(t, "scru160")
		d.apply(t, script(t, d.command, "--down", "scru160"))
		if after := d.objects(t); !slices.Equal(after, two) {
			t.Errorf("left of one format: %s, not %s", after, two)
		}
		d.apply(t, script(t, d.command, "--down", "sno"))
		d.apply(t, script(t, d.command, "--down", "nanoflake"))
		if after := d.objects(t); d.dialect == postgres && !slices.Equal(after, before) {
			t.Errorf("left: %s, not %s", after, before)
		}
		d.apply(t, down)
		if after := d.objects(t); !slices.Equal(after, before) {
			t.Errorf("left: %s, not %s", after, before)
		}

		// The functions and the generator share the schema, and the last to go takes the schema along.
		if d.dialect == postgres {
			generator, stop := script(t, "generator"), script(t, "generator", "--down")
			for _, order := range [][]string{{up, generator, down, stop}, {up, generator, stop, down}, {generator, up, down, stop}, {generator, up, stop, down}} {
				for _, step := range order {
					d.apply(t, step)
				}
				if after := d.objects(t); !slices.Equal(after, before) {
					t.Errorf("left of functions and generator: %s, not %s", after, before)
				}
			}
		}

		// What others put in the schema stays.
		if d.dialect == postgres {
			d.run(t, "CREATE SCHEMA firn; CREATE TABLE firn.theirs (n INTEGER)")
			d.apply(t, up)
			d.apply(t, down)
			if got := d.strings(t, "SELECT COUNT(*) FROM firn.theirs"); got[0] != "0" {
				t.Errorf("theirs: %s", got)
			}
			d.run(t, "DROP TABLE firn.theirs")
			d.apply(t, up)
			d.apply(t, down)
			if got := d.strings(t, "SELECT nspname FROM pg_namespace WHERE nspname = 'firn'"); len(got) != 1 {
				t.Error("the script removes a schema that it did not make")
			}
		}
	})
}

// TestDownRefuses: nothing is removed while an index uses a function.
func TestDownRefuses(t *testing.T) {
	d := postgres.fresh(t)
	d.install(t)
	d.run(t, "CREATE TABLE orders (id BIGINT); CREATE INDEX by_time ON orders (firn.nanoflake_time(id))")
	made := d.objects(t)
	down := script(t, "postgres", "--down")
	_, err := d.ExecContext(t.Context(), down)
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "2BP01" || !strings.Contains(e.Detail, "by_time") {
		t.Errorf("down with an index: %v", err)
	}
	d.ExecContext(t.Context(), "ROLLBACK")
	if after := d.objects(t); !slices.Equal(after, made) {
		t.Errorf("left: %d objects, not %d", len(after), len(made))
	}
	d.run(t, "DROP INDEX by_time")
	d.run(t, down)
}

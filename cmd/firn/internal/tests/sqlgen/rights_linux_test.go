package sqlgen_test

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/internal/testing/pgtest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// script returns what firn sql prints.
func script(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("firn", append([]string{"sql"}, args...)...).Output()
	testkit.OK(t, err)
	return string(out)
}

// up and down are the scripts for PostgreSQL.
func up(t testing.TB) map[string]string {
	return map[string]string{"generator": sqlgen.Up, "functions": script(t, "postgres")}
}

func down(t testing.TB) map[string]string {
	return map[string]string{"generator": sqlgen.Down, "functions": script(t, "postgres", "--down")}
}

// as makes a role, and returns its name and the address for the role.
func as(t testing.TB, conn *pgx.Conn, addr, role string) (name, as string) {
	t.Helper()
	name = nameOf(addr) + "_" + role
	do(t, conn, fmt.Sprintf("CREATE ROLE %s LOGIN", name))
	return name, withRole(addr, name)
}

// withRole returns the address for another role.
func withRole(addr, name string) string { return strings.Replace(addr, "postgres@", name+"@", 1) }

// wantRefused fails the test unless a script ends with an error that has all texts.
func wantRefused(t *testing.T, conn *pgx.Conn, text string, texts ...string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != "42501" || e.Hint == "" {
		t.Errorf("the script ran: %v", err)
		return
	}
	for _, text := range texts {
		if !strings.Contains(e.Message, text) {
			t.Errorf("%s, without %q", e.Message, text)
		}
	}
	do(t, conn, "ROLLBACK")
}

// TestOwners: no other role can replace the functions that callers run with the rights of an owner. A role with
// no right but to create a schema makes and removes everything.
func TestOwners(t *testing.T) {
	for name, up := range up(t) {
		t.Run(name, func(t *testing.T) {
			addr := database(t, sharedServer(t), "")
			super := open(t, addr)
			appName, appAddr := as(t, super, addr, "app")
			app := open(t, appAddr)

			// The schema of the application's role.
			do(t, super, fmt.Sprintf("GRANT CREATE ON DATABASE %s TO %s", nameOf(addr), appName))
			for _, made := range []string{"CREATE SCHEMA firn", script(t, "postgres")} {
				do(t, app, made)
				wantRefused(t, super, up, appName, "postgres")
				do(t, app, "DROP SCHEMA firn CASCADE")
			}

			// A schema in which the role can create, and in which it has created.
			do(t, super, up)
			do(t, super, "GRANT USAGE ON SCHEMA firn TO PUBLIC")
			for _, grantee := range []string{appName, "PUBLIC"} {
				do(t, super, "GRANT CREATE ON SCHEMA firn TO "+grantee)
				wantRefused(t, super, up, grantee)
				if grantee == appName {
					do(t, app, "CREATE FUNCTION firn.planted() RETURNS int LANGUAGE sql AS 'SELECT 1'; CREATE TABLE firn.rows (n int)")
				}
				do(t, super, "REVOKE CREATE ON SCHEMA firn FROM "+grantee)
			}
			wantRefused(t, super, up, appName, "postgres")
			do(t, app, "DROP FUNCTION firn.planted()")
			wantRefused(t, super, up, "table firn.rows", appName, "postgres")
			do(t, app, "DROP TABLE firn.rows")

			// A function that was made before, for another owner.
			changed := map[string]string{"generator": "firn.nanoflake_take(int)", "functions": "firn.nanoflake_check(bigint)"}[name]
			do(t, super, fmt.Sprintf("ALTER FUNCTION %s OWNER TO %s", changed, appName))
			wantRefused(t, super, up, strings.Split(changed, "(")[0], appName)
			do(t, super, fmt.Sprintf("ALTER FUNCTION %s OWNER TO postgres", changed))
			do(t, super, up)
			do(t, super, down(t)[name])

			// A role of its own.
			ownerName, ownerAddr := as(t, super, addr, "owner")
			for _, s := range setUp(t) {
				do(t, super, strings.NewReplacer("firn_owner", ownerName, "DATABASE app", "DATABASE "+nameOf(addr), "CREATE ROLE", "ALTER ROLE").Replace(s))
			}
			owner := open(t, ownerAddr)
			do(t, owner, up)
			do(t, owner, up)
			if n := value[int](t, super, "SELECT count(*) FROM pg_proc WHERE pronamespace = 'firn'::regnamespace AND proowner <> (SELECT nspowner FROM pg_namespace WHERE nspname = 'firn')"); n != 0 {
				t.Errorf("%d functions have another owner", n)
			}
			do(t, owner, down(t)[name])
			if value[bool](t, super, "SELECT to_regnamespace('firn') IS NOT NULL") {
				t.Error("the schema is left")
			}
		})
	}
}

// TestPage runs the steps of docs/sql-generator.md in the order of the page.
func TestPage(t *testing.T) {
	s := sharedServer(t)
	testkit.OK(t, s.Exec(t.Context(), "CREATE DATABASE app", "CREATE ROLE app LOGIN"))
	addr := strings.Replace(s.Address(), "/postgres?", "/app?", 1)
	exec1(t, addr, "GRANT CREATE ON SCHEMA public TO app")
	_, steps, _ := strings.Cut(document(t), "\n## Steps\n")
	steps, _, _ = strings.Cut(steps, "\n## ")
	var done []string
	for _, m := range regexp.MustCompile("(?m)^   ```(.*)\n((?:.*\n)*?)   ```$").FindAllStringSubmatch(steps, -1) {
		done = append(done, m[1])
		switch {
		case m[1] == "console" && strings.TrimSpace(m[2]) == "$ firn sql generator | psql -v ON_ERROR_STOP=1 -U firn_owner app":
			exec1(t, withRole(addr, "firn_owner"), sqlgen.Up)
		case m[1] == "ini" && strings.Contains(m[2], "firn sql feed --database postgres://firn_feed@"):
			feed(t, withRole(addr, "firn_feed"), t.TempDir())
			makes(t, addr)
		case m[1] == "sql" && strings.Contains(m[2], "CREATE TABLE"):
			exec1(t, withRole(addr, "app"), m[2])
		case m[1] == "sql":
			exec1(t, addr, m[2])
		default:
			t.Errorf("a step that the test does not know: %s", m[2])
		}
	}
	if want := []string{"sql", "console", "sql", "ini", "sql"}; !slices.Equal(done, want) {
		t.Errorf("the steps are %q, not %q", done, want)
	}
	if n := value[int](t, open(t, addr), "SELECT count(*) FROM orders"); n != 101 {
		t.Errorf("%d rows, not 101", n)
	}
}

// setUp returns the statements that docs/sql-generator.md has for the role of the scripts.
func setUp(t *testing.T) (all []string) {
	t.Helper()
	text := document(t)
	for _, s := range []string{"CREATE ROLE firn_owner LOGIN", "GRANT CREATE ON DATABASE app TO firn_owner"} {
		if !strings.Contains(text, s+";") {
			t.Errorf("docs/sql-generator.md has not: %s", s)
		}
		all = append(all, s)
	}
	return all
}

// TestHostilePath: the scripts, the functions and the feed run nothing of a schema that comes first in the
// search_path of all sessions.
func TestHostilePath(t *testing.T) {
	addr := database(t, sharedServer(t), pgtest.Hostile)
	conn := open(t, addr)
	do(t, conn, fmt.Sprintf("ALTER DATABASE %s SET search_path = evil, pg_catalog, public", nameOf(addr)))
	trap := func(text string) error {
		conn := open(t, addr)
		defer conn.Close(t.Context())
		_, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol)
		return err
	}
	wantTrap := func(name, text string) {
		t.Helper()
		if err := trap(text); err == nil || !strings.Contains(err.Error(), "hostile") && !strings.Contains(err.Error(), "check constraint") {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantTrap("an operator", "SELECT now() - interval '1 day'")
	wantTrap("a function", "SELECT length('x'::pg_catalog.text)")
	wantTrap("a type", "SELECT 'x'::text")
	for name, text := range up(t) {
		if err := trap(text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := trap(text); err != nil {
			t.Fatalf("%s again: %v", name, err)
		}
	}
	f := feed(t, addr, t.TempDir())
	f.says(t, "is leased", 1)
	testkit.OK(t, trap("SELECT firn.next_nanoflake(), (SELECT firn.nanoflake_clock()); SELECT * FROM firn.next_nanoflakes(5000)"))
	f.Kill()

	// Each function, on arguments that lead through all of it.
	made := value[[]string](t, conn, "SELECT pg_catalog.array_agg(p.oid::pg_catalog.regprocedure::pg_catalog.text) FROM pg_catalog.pg_proc p WHERE p.pronamespace OPERATOR(pg_catalog.=) 'firn'::pg_catalog.regnamespace")
	calls := map[string]bool{"firn.nanoflake_clock()": true, "firn.next_nanoflake()": true, "firn.next_nanoflakes(integer)": true, "firn.nanoflake_take(integer)": true}
	call := func(signature, call string) {
		t.Helper()
		calls[signature] = true
		if err := trap("SELECT " + call); err != nil && !strings.Contains(err.Error(), "(SQLSTATE 22P02)") {
			t.Errorf("%s: %v", call, err)
		}
	}
	texts := map[string][]string{
		"nanoflake": {"0549x5l2itvr5", "!549x5l2itvr5", "zzzzzzzzzzzzz", "05"}, "ulidflake": {"01CMXAP4NYT7C", "81CMXAP4NYT7C", "UUUUUUUUUUUUU"},
		"ulidflake_scalable": {"01CMXAP4NYT7C", "81CMXAP4NYT7C"}, "snowflakesi": {"123456789012", "12x", "9999999999999999"},
		"scru160": {strings.Repeat("0a", 16), strings.Repeat("0a", 20), "x"}, "sno": {"brpk4q72xwf2m63l", "?rpk4q72xwf2m63l"},
	}
	for _, f := range made {
		name, args, _ := strings.Cut(strings.TrimSuffix(f, ")"), "(")
		format := ""
		for known := range texts {
			if strings.HasPrefix(name, "firn."+known+"_") && len(known) > len(format) {
				format = known
			}
		}
		switch args {
		case "":
			call(f, name+"()")
		case "bigint":
			for _, id := range []string{"0", "1234567890123456", "-1"} {
				call(f, fmt.Sprintf("%s(%s::bigint)", name, id))
			}
		case "bytea":
			for _, id := range []string{strings.Repeat("0a", map[string]int{"sno": 10, "scru160": 20}[format]), "0a"} {
				call(f, fmt.Sprintf(`%s('\x%s'::pg_catalog.bytea)`, name, id))
			}
		case "text":
			for _, text := range texts[format] {
				call(f, fmt.Sprintf("%s('%s'::pg_catalog.text)", name, text))
			}
		case "uuid":
			call(f, fmt.Sprintf("%s(firn.sno_uuid(firn.sno_parse('brpk4q72xwf2m63l')))", name))
			call(f, fmt.Sprintf("%s('00000000-0000-0000-0000-000000000000'::pg_catalog.uuid)", name))
		case "timestamp with time zone":
			call(f, fmt.Sprintf("%s(pg_catalog.now())", name))
		case "timestamp with time zone,bigint,bigint":
			call(f, fmt.Sprintf("%s(pg_catalog.now(), 1::bigint, 4000000000000::bigint)", name))
		case "bytea,integer,integer":
			call(f, fmt.Sprintf(`%s('\x0a0b0c0d'::pg_catalog.bytea, 1, 2)`, name))
		case "text,text,integer,text,text":
			calls[f] = true // called by the functions that refuse an ID
		}
	}
	for _, f := range made {
		if !calls[f] {
			t.Errorf("%s was not called", f)
		}
	}
	t.Logf("%d functions: %q", len(made), slices.Sorted(maps.Keys(calls)))

	// Of the functions in PL/pgSQL, each has a path, or is qualified and thus safe under any.
	for _, f := range value[[]string](t, conn, `SELECT pg_catalog.array_agg(p.oid::pg_catalog.regprocedure::pg_catalog.text) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid OPERATOR(pg_catalog.=) p.prolang
		WHERE p.pronamespace OPERATOR(pg_catalog.=) 'firn'::pg_catalog.regnamespace AND l.lanname OPERATOR(pg_catalog.=) 'plpgsql'::pg_catalog.name AND p.proconfig IS NULL`) {
		if !strings.Contains(f, "_check(") {
			t.Errorf("%s has no search_path of its own", f)
		}
	}
	for name, text := range down(t) {
		if err := trap(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAgain: the script runs beside transactions that have made an ID, without waiting. To replace a view of
// another version, the script waits for the transactions, and calls go on meanwhile.
func TestAgain(t *testing.T) {
	addr := database(t, sharedServer(t), sqlgen.Up)
	conn := open(t, addr)
	grant(t, conn, 7, 1, forever)
	user := open(t, addr)
	for _, c := range []struct{ begin, end string }{
		{"BEGIN; SELECT firn.next_nanoflake()", "COMMIT"},
		{"BEGIN; SELECT firn.next_nanoflake(); PREPARE TRANSACTION 'forgotten'", "ROLLBACK PREPARED 'forgotten'"},
	} {
		do(t, user, c.begin)
		do(t, conn, "SET lock_timeout = '1s'; "+sqlgen.Up+"RESET lock_timeout")

		do(t, conn, "COMMENT ON VIEW firn.nanoflake_row IS 'Firn generator, version 0'")
		again := open(t, addr)
		done := make(chan error, 1)
		go func() {
			_, err := again.Exec(t.Context(), sqlgen.Up, pgx.QueryExecModeSimpleProtocol)
			done <- err
		}()
		tries := fmt.Sprintf("SELECT wait_event = 'PgSleep' FROM pg_stat_activity WHERE pid = %d", again.PgConn().PID())
		wait.Until(t, "the script waits", func() bool { return value[bool](t, conn, "SELECT coalesce(("+tries+"), false)") })
		for range 100 {
			if _, err := some(t.Context(), conn, nil, "SELECT firn.next_nanoflake()"); err != nil {
				t.Error(err)
			}
		}
		select {
		case err := <-done:
			t.Errorf("the script has ended: %v", err)
			continue
		default:
		}
		do(t, user, c.end)
		if err, _ := wait.Receive(t, "the end of the script", done); err != nil {
			t.Error(err)
		}
		if comment := value[string](t, conn, "SELECT obj_description('firn.nanoflake_row'::regclass)"); !strings.HasPrefix(comment, "Firn generator, version 1: ") {
			t.Errorf("the view is of %q", comment)
		}
	}
}

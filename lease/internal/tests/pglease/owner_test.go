package pglease_test

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/pglease"
)

// owned makes a database that belongs to a role. Code in the function public.hostile counts its calls
// in a sequence, which no rollback resets.
func owned(t *testing.T, conn *pgx.Conn, owner string) (addr string, super *pgx.Conn) {
	t.Helper()
	_, addr = database(t, conn, "OWNER "+owner)
	super = connect(t, addr)
	run(t, super, `SET ROLE %s;
		CREATE SCHEMA s; GRANT USAGE ON SCHEMA s TO PUBLIC; CREATE SEQUENCE public.ran; GRANT ALL ON SEQUENCE public.ran TO PUBLIC;
		CREATE FUNCTION public.hostile() RETURNS int LANGUAGE sql AS $$ SELECT nextval('public.ran')::int $$;
		CREATE FUNCTION public.fire() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM public.hostile(); RETURN NEW; END $$;
		RESET ROLE`, owner)
	return addr, super
}

// leases makes a table as a store does, with too many grants.
const leases = `CREATE TABLE s.leases (key text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, value bytea NOT NULL);
	INSERT INTO s.leases VALUES ('.schema', 1, ''), ('p/a', 1, ''); GRANT ALL ON s.leases TO PUBLIC; `

// TestOwner: a store runs no code of a role that the user has no reason to trust, and Inspect says so.
func TestOwner(t *testing.T) {
	conn := connect(t, given())
	app, other, boss := role(t, conn, ""), role(t, conn, ""), role(t, conn, "SUPERUSER")
	admin, member := role(t, conn, "CREATEROLE IN ROLE "+app), role(t, conn, "IN ROLE "+app)
	own := "CREATE SCHEMA own; GRANT USAGE ON SCHEMA own TO PUBLIC; " + strings.ReplaceAll(leases, "s.leases", "own.leases")
	const trigger = "CREATE TRIGGER t BEFORE INSERT OR UPDATE ON s.leases EXECUTE FUNCTION public.fire(); "
	its, schemas := "the table s.leases belongs to role "+app+", whose code would run as role ", "belongs to role "+app+", whose code would run as role "+boss
	for _, c := range []struct {
		name, user string
		super, app string // statements of a superuser, and those of the role app after them
		table      string // "" means s.leases
		want       string // the error; "" means that the user may use the table
	}{
		{name: "trigger", user: boss, app: leases + trigger, want: its + boss},
		{name: "CREATEROLE", user: admin, app: leases + trigger, want: its + admin},
		{name: "role of the database", user: boss, app: leases + trigger + "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET role = " + app +
			"', current_database()); END $$", want: its + boss},
		{name: "check", user: boss, app: leases + "ALTER TABLE s.leases ADD CHECK (public.hostile() > 0) NOT VALID", want: its + boss},
		{name: "rule", user: boss, app: leases + "CREATE RULE r AS ON UPDATE TO s.leases DO ALSO SELECT public.hostile()", want: its + boss},
		{name: "child", user: boss, app: leases + "CREATE TABLE s.child () INHERITS (s.leases); INSERT INTO s.child SELECT * FROM ONLY s.leases; " +
			"DELETE FROM ONLY s.leases; " + strings.ReplaceAll(trigger, "s.leases", "s.child"), want: its + boss},
		{name: "view", user: boss, app: "CREATE VIEW s.leases AS SELECT key, version * (public.hostile() / public.hostile() + 1) AS version, value " +
			"FROM (VALUES ('.schema', 1::bigint, ''::bytea)) AS v (key, version, value)", want: its + boss},
		{name: "right of triggers", user: boss, super: own, app: strings.ReplaceAll(trigger, "s.leases", "own.leases"), table: "own.leases",
			want: "the table own.leases has a trigger, which would run as role " + boss},
		{name: "schema", user: boss, want: "the schema s " + schemas},
		{name: "schema of the table", user: boss, super: leases, want: "the schema s " + schemas},
		{name: "public", user: boss, table: "public.leases", want: "the schema public " + schemas},
		{name: "another role's", user: other, app: leases, want: its + other},
		{name: "another role's trigger", user: app, app: leases + "RESET ROLE; SET ROLE " + other + "; " + trigger,
			want: "the table s.leases has a trigger, which would run as role " + app},
		{name: "search_path", user: boss, super: own, table: "own.leases", app: "CREATE FUNCTION s.pg_is_in_recovery() RETURNS bool LANGUAGE sql " +
			"AS 'SELECT public.hostile() < 0'; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = s, pg_catalog', current_database()); END $$"},
		{name: "schema of an administrator's table", user: admin, super: leases + "ALTER TABLE s.leases OWNER TO " + admin + ";",
			want: "the schema s belongs to role " + app + ", whose code would run as role " + admin},
		{name: "its own", user: app, app: leases},
		{name: "a member's", user: member, app: leases},
		{name: "a superuser's", user: other, super: own, table: "own.leases"},
		{name: "another superuser's", user: boss, super: own, table: "own.leases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr, super := owned(t, conn, app)
			run(t, super, "%s;", c.super)
			run(t, super, "SET ROLE %s; %s", app, c.app)
			s := storetest.Open(t, pglease.Open, storetest.With(as(addr, c.user), "table="+cmp.Or(c.table, "s.leases")))
			found, err := s.Inspect(t.Context())
			testkit.OK(t, err)
			if blocks := slices.ContainsFunc(found, func(f driver.Finding) bool { return f.Blocks && f.Text == c.want }); c.user == boss && blocks != (c.want != "") {
				t.Errorf("Inspect finds %+v", found)
			}
			errs := map[string]error{"prepare": s.Prepare(t.Context())}
			if c.want == "" || c.user == boss || c.user == admin { // the others could be applications
				maps.Copy(errs, storetest.Calls(t.Context(), s, none))
				_, errs["confirm"] = s.Confirm(t.Context(), "p/a")
			}
			for call, err := range errs {
				if c.want != "" && (call == "prepare" || c.app+c.super != "") {
					storetest.Fails(t, call, err, driver.ErrRefused, c.want)
				} else if c.want == "" && err != nil && !errors.Is(err, driver.ErrConflict) && !errors.Is(err, driver.ErrNotFound) {
					t.Errorf("%s: %v", call, err)
				}
			}
			var ran bool
			testkit.OK(t, super.QueryRow(t.Context(), "SELECT is_called FROM public.ran").Scan(&ran))
			if ran {
				t.Error("the store ran code of the role")
			}
		})
	}
}

// TestApplication: an application that has only the rights of Grant uses the table of an owner, which is no superuser.
func TestApplication(t *testing.T) {
	conn := connect(t, given())
	owner, user := role(t, conn, ""), role(t, conn, "")
	addr, super := owned(t, conn, owner)
	s := storetest.Prepare(t, pglease.Open, as(addr, owner))
	testkit.OK(t, minter.Create(t.Context(), s))
	run(t, super, "%s", testkit.Must(pglease.Grant("", user)))
	s = storetest.Open(t, pglease.Open, as(addr, user))
	if found, err := storetest.Program(t.Context(), s); err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
	run(t, super, "ALTER DATABASE %q OWNER TO %s", super.Config().Database, user)
	// The owner of a database has made the table, or somebody else has.
	if found, err := s.Inspect(t.Context()); err != nil || len(found) != 1 || !strings.Contains(found[0].Text, "belongs to role "+owner) {
		t.Errorf("%+v, %v", found, err)
	}
}

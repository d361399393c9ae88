package pglease_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/pglease"
)

// TestPermissions: a user with the rights of Permissions alone does all that a program does, in a database that
// nobody may use otherwise. Without any of the rights, the user cannot.
func TestPermissions(t *testing.T) {
	conn := connect(t, given())
	user, poor := role(t, conn, ""), make([]string, 5) // before the database, which goes first
	for i := range poor {
		poor[i] = role(t, conn, "")
	}
	database, addr := database(t, conn, "", "table=ids.leases")
	run(t, conn, "REVOKE ALL ON DATABASE %s FROM PUBLIC", database)
	owner := storetest.Open(t, pglease.Open, addr)
	testkit.OK(t, minter.Create(t.Context(), owner)) // makes the table
	inside, err := pgx.Connect(t.Context(), strings.Replace(addr, "table=ids.leases", "", 1))
	testkit.OK(t, err)
	defer inside.Close(t.Context())
	give := func(user string, without string) {
		t.Helper()
		grants, err := pglease.Permissions(as(addr, user), "")
		testkit.OK(t, err)
		if !strings.Contains(grants, without) {
			t.Fatalf("no %q in\n%s", without, grants)
		}
		run(t, inside, "%s", strings.Replace(grants, without, "", 1))
	}
	use := func(user string) error {
		s, err := pglease.Open(t.Context(), as(addr, user))
		if err != nil {
			return err
		}
		defer s.Close()
		_, err = storetest.Program(t.Context(), s)
		return err
	}
	give(user, "")
	testkit.OK(t, use(user))
	for i, right := range []string{
		fmt.Sprintf("GRANT CONNECT ON DATABASE %q TO ", database), `GRANT USAGE ON SCHEMA "ids" TO `, "SELECT, ", "INSERT, ", ", UPDATE",
	} {
		t.Run(right, func(t *testing.T) {
			user, without := poor[i], right
			if strings.HasSuffix(right, " TO ") {
				without += fmt.Sprintf("%q;\n", user)
			}
			give(user, without)
			if right == "INSERT, " { // for new records alone
				s := storetest.Open(t, pglease.Open, as(addr, user))
				_, err := s.Put(t.Context(), "new", nil, driver.None)
				storetest.Fails(t, "a new record", err, driver.ErrRefused, "42501")
				return
			}
			if use(user) == nil {
				t.Error("the right is not needed")
			}
		})
	}
	for _, v := range [][2]string{{"redis://a@h/0", ""}, {"postgres://h/db", ""}, {"postgres://a@h/db?table=a.b.c", ""}, {"nonsense", "a"}} {
		if text, err := pglease.Permissions(v[0], v[1]); err == nil {
			t.Errorf("%q: %s", v, text)
		}
	}
	for _, v := range [][2]string{{"a.b.c", user}, {"ids.leases", ""}, {"ids.leases", "a\x00b"}} {
		if text, err := pglease.Grant(v[0], v[1]); err == nil {
			t.Errorf("%q: %s", v, text)
		}
	}
	if text, err := pglease.Grant("", `o"dd`); err != nil || !strings.Contains(text, `TO "o""dd";`) || strings.Contains(text, "DELETE") {
		t.Errorf("%s, %v", text, err)
	}
	if text, err := pglease.Permissions("postgres://h/db", "a\nDROP TABLE x; --"); err != nil || strings.Contains(text, "--") && strings.HasPrefix(text, "-- ") {
		t.Errorf("%s, %v", text, err)
	}
}

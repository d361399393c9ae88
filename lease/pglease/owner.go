package pglease

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Triggers, checks, rules, defaults and views run code with the rights of the user of the store. The owner of the
// table writes this code, the owner of the schema can replace the table, and whoever has the right TRIGGER adds
// triggers.
//
// An application is another role than the owner of its table, and trusts the owner. [Store.Prepare] runs with the
// rights of a migration: it trusts a superuser, and an owner that the user is a member of. An administrator trusts
// only roles that have its rights anyway. Membership tells nothing there: a superuser counts as a member of all roles.

// users is SQL for the roles whose rights the code has: it can undo a SET ROLE.
const users = "pg_roles u WHERE u.rolname IN (current_user, session_user)"

// admin is SQL for an administrator. Where customers get no superuser, their administrators have CREATEROLE, and are
// often members of the owners' roles.
const admin = "(u.rolsuper OR u.rolcreaterole)"

// refusal is a query for the reason not to use the table, or NULL. Where an application may be at work, the query
// is about administrators, and about the owner of the database.
func (n name) refusal(m mode) string {
	which := ""
	if m < prepare {
		which = " AND (" + admin + " OR u.oid = s.dba)"
	}
	const as = ", whose code would run as role ' || u.rolname "
	// The role with the OID 6171 is pg_database_owner, which owns public from version 15 on.
	return "SELECT min(CASE " +
		"WHEN NOT (pg_has_role(c.relowner, u.oid, 'MEMBER') OR NOT " + admin + " AND pg_has_role(u.oid, c.relowner, 'MEMBER')) " +
		"THEN 'the table " + n.String() + " belongs to role ' || pg_get_userbyid(c.relowner) || '" + as +
		"WHEN " + admin + " AND NOT pg_has_role(s.owner, u.oid, 'MEMBER') " +
		"THEN 'the schema " + n.schema + " belongs to role ' || pg_get_userbyid(s.owner) || '" + as +
		"WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal) " +
		"THEN 'the table " + n.String() + " has a trigger, which would run as role ' || u.rolname END) " +
		"FROM (SELECT n.oid, d.datdba AS dba, CASE n.nspowner WHEN 6171 THEN d.datdba ELSE n.nspowner END AS owner " +
		"FROM pg_namespace n, pg_database d WHERE n.nspname = " + quote(n.schema) + " AND d.datname = current_database()) s " +
		"LEFT JOIN pg_class c ON c.relnamespace = s.oid AND c.relname = " + quote(n.table) + ", " + users + which
}

// refused is the code of the division by zero that ends a transaction.
const refused = "22012"

// An ownerError is the reason not to use a table.
type ownerError struct{ text string }

func (e *ownerError) Error() string { return e.text }

// transact runs statements in a transaction of the mode, unless the table is refused. The lock comes first: from
// the check on, nobody renames the table, or adds a trigger before a change.
func (s *Store) transact(ctx context.Context, m mode, statements string) ([]*pgconn.Result, error) {
	if s.admin || m >= prepare {
		lock := "LOCK TABLE " + s.table + " IN ACCESS SHARE MODE; "
		switch m {
		case write:
			lock = "LOCK TABLE " + s.table + " IN ROW EXCLUSIVE MODE; "
		case define: // there is no table
			lock = ""
		}
		statements = lock + "SELECT 1 / ((" + s.name.refusal(m) + ") IS NULL)::int; " + statements
	}
	results, err := s.exec(ctx, m.begin(left(ctx))+statements)
	switch {
	case is(err, "3F000"): // LOCK misses the schema, where SELECT would miss the table
		return nil, &pgconn.PgError{Severity: "ERROR", Code: "42P01", Message: fmt.Sprintf("relation %q does not exist", s.name)}
	case !is(err, refused):
		return results, err
	}
	rows, again := s.query(ctx, s.name.refusal(m))
	switch {
	case again != nil:
		return nil, again
	case rows[0][0] == nil:
		return nil, &ownerError{fmt.Sprintf("the table %s, or its schema, changes its owner", s.name)}
	}
	return nil, &ownerError{string(rows[0][0])}
}

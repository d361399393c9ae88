package pglease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/lease/driver"
)

// Prepare makes the table and the schema. If the table exists, Prepare only checks for a table of
// leases with a known version.
//
// Prepare runs the statements of [Schema], and needs the right to create the table, and the schema
// if missing. You can also run these statements by hand or with a migration tool; programs then
// never call Prepare. All other calls of a store need only the privileges of [Grant].
//
// Prepare refuses a table whose owner is neither the user, nor a role that the user is a member of, nor a
// superuser, and a table with a trigger. The code of triggers, checks and rules runs as the user who writes.
func (s *Store) Prepare(ctx context.Context) error {
	return driver.Do(ctx, s.Handle, "prepare", s.prepare)
}

func (s *Store) prepare(ctx context.Context) error {
	for tries := 1; ; tries++ {
		_, err := s.do(ctx, prepare, "SELECT 1")
		if !is(err, "42P01") {
			return err
		}
		results, err := s.exec(ctx, "SELECT to_regnamespace("+quote(`"`+s.name.schema+`"`)+") IS NULL")
		if err == nil {
			statements := s.name.statements()
			if string(results[0].Rows[0][0]) != "t" { // CREATE takes a right that the user may not have
				statements = statements[1:]
			}
			_, err = s.transact(ctx, define, join(statements))
		}
		if err == nil {
			return nil
		}
		// Another process may have been quicker. The error then has one of several codes.
		if !is(err, "42P06", "42P07", "42710", "23505") || tries == 5 {
			return err
		}
	}
}

// Schema returns the SQL for a table and its schema, for an administrator or a migration tool: the
// statements of [Store.Prepare], in one transaction. The table is named as in [Options]; "" means
// DefaultTable. The statements fail if the table exists, and then change nothing.
func Schema(table string) (string, error) {
	n, err := parseName(cmp.Or(table, DefaultTable))
	if err != nil {
		return "", err
	}
	return "BEGIN;\n" + join(n.statements()) + "COMMIT;\n", nil
}

// Grant returns the SQL that lets a user of the database, or a group, use the table for leases: USAGE
// of the schema, and SELECT, INSERT and UPDATE of the table. A store never deletes rows, and no user
// should. The table is named as in [Options]; "" means DefaultTable.
func Grant(table, user string) (string, error) {
	n, err := parseName(cmp.Or(table, DefaultTable))
	switch {
	case err != nil:
		return "", err
	case user == "" || strings.ContainsRune(user, 0):
		return "", fmt.Errorf("user %.200q: want the name of a user of the database", user)
	}
	var statements []string
	for _, p := range n.privileges() {
		statements = append(statements, "GRANT "+p+" TO "+pgx.Identifier{user}.Sanitize())
	}
	return join(statements), nil
}

// privileges returns the rights for all calls of a store except Prepare.
func (n name) privileges() []string {
	return []string{"USAGE ON SCHEMA " + pgx.Identifier{n.schema}.Sanitize(), "SELECT, INSERT, UPDATE ON " + n.quoted()}
}

// statements returns the statements that make the table. The first statement makes the schema.
//
// The store updates rows over and over. With room left on its page, a row's next version goes
// there, touches no index, and reuses the room of earlier versions.
func (n name) statements() []string {
	table := n.quoted()
	return []string{
		fmt.Sprintf(`CREATE SCHEMA IF NOT EXISTS "%s"`, n.schema),
		"CREATE TABLE " + table + " (\n" +
			"\tkey text COLLATE \"C\" PRIMARY KEY,\n\tversion bigint NOT NULL,\n\tvalue bytea NOT NULL\n" +
			") WITH (fillfactor = 50)",
		"COMMENT ON TABLE " + table + " IS 'Leases of Firn. Do not delete or change a row by hand: IDs would be made twice.'",
		fmt.Sprintf("INSERT INTO %s (key, version, value) VALUES (%s, %d, '')", table, quote(schemaKey), schemaVersion),
	}
}

func join(statements []string) string {
	var all strings.Builder
	for _, s := range statements {
		all.WriteString(s + ";\n")
	}
	return all.String()
}

// is reports whether an error is an error of the server with one of these codes.
func is(err error, codes ...string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains(codes, pg.Code)
}

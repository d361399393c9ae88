package pglease

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/lease/driver"
)

// Prepare makes the table and its schema. If the table exists, Prepare only checks that it is a
// table of leases with a known version.
//
// Afterwards a user needs only USAGE of the schema and SELECT, INSERT and UPDATE of the table; the
// store never deletes rows. You can also make the table by hand or with a migration tool, by the
// statements of [Schema].
func (s *Store) Prepare(ctx context.Context) error {
	return driver.Do(ctx, s.Handle, "prepare", s.prepare)
}

func (s *Store) prepare(ctx context.Context) error {
	for tries := 1; ; tries++ {
		_, err := s.do(ctx, write, "SELECT 1")
		if !is(err, "42P01") {
			return err
		}
		results, err := s.exec(ctx, "SELECT to_regnamespace("+quote(`"`+s.name.schema+`"`)+") IS NULL")
		if err == nil {
			statements := s.name.statements()
			if string(results[0].Rows[0][0]) != "t" { // CREATE takes a right that the user may not have
				statements = statements[1:]
			}
			_, err = s.exec(ctx, define.begin(left(ctx))+join(statements))
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

// Schema returns the SQL, in one transaction, that makes a table and its schema. The name is as in
// [Options].
func Schema(table string) (string, error) {
	n, err := parseName(table)
	if err != nil {
		return "", err
	}
	return "BEGIN;\n" + join(n.statements()) + "COMMIT;\n", nil
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
		"COMMENT ON TABLE " + table + " IS 'Leases of Firn. To delete a row, or to change one by hand, is to have IDs made twice.'",
		fmt.Sprintf("INSERT INTO %s (key, version, value) VALUES (%s, %d, '')", table, quote(schemaKey), schemaVersion),
	}
}

func join(statements []string) string {
	var all string
	for _, s := range statements {
		all += s + ";\n"
	}
	return all
}

// is reports whether an error is an error of the server with one of these codes.
func is(err error, codes ...string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.Contains(codes, pg.Code)
}

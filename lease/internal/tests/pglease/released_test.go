package pglease_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/tests/released"
	"github.com/firn-id/firn/lease/pglease"
)

// TestReleased has a schema for each table that a released version has written.
func TestReleased(t *testing.T) {
	conn := connect(t, given())
	released.Test(t, "postgres.sql", func(t *testing.T) released.Server {
		return &ofRelease{t, conn, schema(t, conn)}
	})
}

type ofRelease struct {
	t      *testing.T
	conn   *pgx.Conn
	schema string
}

func (r *ofRelease) Load(content string) error {
	_, err := r.conn.Exec(r.t.Context(), strings.ReplaceAll(content, released.Space, r.schema), pgx.QueryExecModeSimpleProtocol)
	return err
}

func (r *ofRelease) Open() driver.Store {
	return storetest.Open(r.t, pglease.Open, given("table="+r.schema+".leases"))
}

// Dump returns the statements for the table and its rows. The row of the table's own version is one
// of the statements of Schema, and a comment to people is left out.
func (r *ofRelease) Dump() (string, error) {
	content, err := pglease.Schema(released.Space + ".leases")
	if err != nil {
		return "", err
	}
	content = regexp.MustCompile("(?m)^COMMENT .*\n").ReplaceAllString(content, "")
	table := pgx.Identifier{r.schema, "leases"}.Sanitize()
	columns, err := texts(r, "SELECT string_agg(column_name || ' ' || data_type || ' ' || is_nullable, ', ' ORDER BY column_name) FROM information_schema.columns WHERE table_schema = '"+
		r.schema+"' AND table_name = 'leases'")
	if err != nil {
		return "", err
	}
	own, err := texts(r, "SELECT key || ' ' || version || ' ' || encode(value, 'hex') FROM "+table+" WHERE key LIKE '.%'")
	if err != nil {
		return "", err
	}
	content += fmt.Sprintf("-- columns: %s\n-- row: %s\n", columns, own)
	rows, err := r.conn.Query(r.t.Context(), "SELECT key, value FROM "+table+" WHERE key NOT LIKE '.%' ORDER BY key COLLATE \"C\"")
	if err != nil {
		return "", err
	}
	var key string
	var value []byte
	_, err = pgx.ForEachRow(rows, []any{&key, &value}, func() error {
		content += fmt.Sprintf("INSERT INTO %s (key, version, value) VALUES ('%s', 1, decode('%x', 'hex')); -- %q\n",
			strings.ReplaceAll(table, r.schema, released.Space), key, value, value)
		return nil
	})
	return content, err
}

func texts(r *ofRelease, query string) ([]string, error) {
	rows, err := r.conn.Query(r.t.Context(), query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

package pgxtest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/pgxid"
)

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// asks reports whether pgx asks the server for the types of parameters in a mode.
func asks(m pgx.QueryExecMode) bool {
	return m != pgx.QueryExecModeExec && m != pgx.QueryExecModeSimpleProtocol
}

// A server is a schema of its own on a server of PostgreSQL.
type server struct {
	config *pgx.ConnConfig
	schema string
}

func open(t testing.TB) server {
	t.Helper()
	config := database.Postgres(t)
	return server{config, config.RuntimeParams["search_path"]}
}

// connect opens a connection, and calls prepare for the connection.
func (s server) connect(t testing.TB, prepare func(*pgx.Conn)) *pgx.Conn {
	t.Helper()
	conn, err := pgx.ConnectConfig(t.Context(), s.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	if prepare != nil {
		prepare(conn)
	}
	return conn
}

// registered is for connect.
func registered(conn *pgx.Conn) { pgxid.Register(conn.TypeMap()) }

// sql opens a database of database/sql.
func (s server) sql(t testing.TB, prepare func(*pgx.Conn)) *sql.DB {
	var options []stdlib.OptionOpenDB
	if prepare != nil {
		options = append(options, stdlib.OptionAfterConnect(func(_ context.Context, conn *pgx.Conn) error {
			prepare(conn)
			return nil
		}))
	}
	db := stdlib.OpenDB(*s.config, options...)
	t.Cleanup(func() { db.Close() })
	return db
}

func exec(t testing.TB, conn *pgx.Conn, query string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Package page has what the pieces of docs/pgx.md do not declare.
package page

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/typed"
)

var (
	ctx               context.Context
	address           string
	pool              *pgxpool.Pool
	conn              *pgx.Conn
	db                *sql.DB
	a, b, first, last nanoflake.ID
	ids               []nanoflake.ID
)

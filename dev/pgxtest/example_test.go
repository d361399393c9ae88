package pgxtest

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
)

// The code of docs/pgx.md.

func openPool(ctx context.Context, address string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, err
	}
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		pgxid.Register(conn.TypeMap())
		return nil
	}
	return pgxpool.NewWithConfig(ctx, config)
}

func findOrders(ctx context.Context, pool *pgxpool.Pool, ids ...nanoflake.ID) ([]nanoflake.ID, error) {
	rows, err := pool.Query(ctx, "select id from orders where id = any($1) order by id", ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[nanoflake.ID])
}

func findBetween(ctx context.Context, pool *pgxpool.Pool, first, last nanoflake.ID) ([]nanoflake.ID, error) {
	between := pgtype.Range[nanoflake.ID]{Lower: first, Upper: last, LowerType: pgtype.Inclusive, UpperType: pgtype.Inclusive, Valid: true}
	rows, err := pool.Query(ctx, "select id from orders where id <@ $1::int8range order by id", between)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[nanoflake.ID])
}

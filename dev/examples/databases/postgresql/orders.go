// Package orders keeps orders in PostgreSQL: docs/databases/postgresql.md has the same code.
package orders

import (
	"context"
	"database/sql"
	_ "embed"
	"time"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
)

// Schema is the table of orders.
//
//go:embed schema.sql
var Schema string

// An Order can have a parent: an order that it replaces.
type Order struct {
	ID     nanoflake.ID
	Parent *nanoflake.ID
	Item   string
}

// Insert stores an order.
func Insert(ctx context.Context, db *sql.DB, o Order) error {
	_, err := db.ExecContext(ctx, `INSERT INTO orders (id, parent, item) VALUES ($1, $2, $3)`, o.ID, o.Parent, o.Item)
	return err
}

// Find returns the order with an ID, or sql.ErrNoRows.
func Find(ctx context.Context, db *sql.DB, id nanoflake.ID) (o Order, err error) {
	row := db.QueryRowContext(ctx, `SELECT id, parent, item FROM orders WHERE id = $1`, id)
	return o, row.Scan(&o.ID, &o.Parent, &o.Item)
}

// Made returns the orders of a time, the oldest first. The primary key is the index of the search.
func Made(ctx context.Context, db *sql.DB, gen *nanoflake.Generator, from, to time.Time) (all []Order, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, parent, item FROM orders WHERE id BETWEEN $1 AND $2 ORDER BY id`,
		gen.First(from), gen.Last(to))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o Order
		if err := rows.Scan(&o.ID, &o.Parent, &o.Item); err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// FindAll returns the orders with the IDs. A zero ID among the IDs is an error.
func FindAll(ctx context.Context, db *sql.DB, ids []nanoflake.ID) (found map[nanoflake.ID]string, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, item FROM orders WHERE id = ANY ($1)`, pgxid.Array(ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found = map[nanoflake.ID]string{}
	for rows.Next() {
		var id nanoflake.ID
		var item string
		if err := rows.Scan(&id, &item); err != nil {
			return nil, err
		}
		found[id] = item
	}
	return found, rows.Err()
}

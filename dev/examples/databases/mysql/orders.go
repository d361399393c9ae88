// Package orders keeps orders in MariaDB or MySQL: docs/databases/mysql.md has the same code.
package orders

import (
	"context"
	"database/sql"
	_ "embed"
	"time"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
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
	_, err := db.ExecContext(ctx, `INSERT INTO orders (id, parent, item) VALUES (?, ?, ?)`, o.ID, o.Parent, o.Item)
	return err
}

// Find returns the order with an ID, or sql.ErrNoRows.
func Find(ctx context.Context, db *sql.DB, id nanoflake.ID) (o Order, err error) {
	row := db.QueryRowContext(ctx, `SELECT id, parent, item FROM orders WHERE id = ?`, id)
	return o, row.Scan(&o.ID, &o.Parent, &o.Item)
}

// Made returns the orders of a time, the oldest first. The primary key is the index of the search.
func Made(ctx context.Context, db *sql.DB, gen *nanoflake.Generator, from, to time.Time) (all []Order, err error) {
	rows, err := db.QueryContext(ctx, `SELECT id, parent, item FROM orders WHERE id BETWEEN ? AND ? ORDER BY id`,
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

// SchemaBytes has a column of each kind for the formats of bytes.
const SchemaBytes = `
CREATE TABLE events (
	id   BINARY(20) NOT NULL PRIMARY KEY,                             -- scru160.Binary
	text CHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL UNIQUE,  -- scru160.ID
	sno  BINARY(10) NULL UNIQUE                                       -- sno.ID
)`

// SchemaUUID is for MariaDB 10.10.6, 10.11.5 and later. MySQL has no column of type UUID.
const SchemaUUID = `
CREATE TABLE visits (
	id UUID NOT NULL PRIMARY KEY  -- sno.UUID
)`

// An Event has IDs in columns of bytes and of text.
type Event struct {
	ID   scru160.Binary
	Text scru160.ID
	Sno  sno.ID
}

// InsertEvent stores the ID as 20 bytes and as text, and a sno as 10 bytes.
func InsertEvent(ctx context.Context, db *sql.DB, id scru160.ID, s sno.ID) error {
	_, err := db.ExecContext(ctx, `INSERT INTO events (id, text, sno) VALUES (?, ?, ?)`, id.Binary(), id, s)
	return err
}

// FindEvent returns the event with an ID.
func FindEvent(ctx context.Context, db *sql.DB, id scru160.ID) (e Event, err error) {
	row := db.QueryRowContext(ctx, `SELECT id, text, sno FROM events WHERE id = ?`, id.Binary())
	return e, row.Scan(&e.ID, &e.Text, &e.Sno)
}

package orders

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// InsertAll stores orders in one request.
func InsertAll(ctx context.Context, conn *pgx.Conn, all []Order) error {
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"orders"}, []string{"id", "parent", "item"},
		pgx.CopyFromSlice(len(all), func(i int) ([]any, error) { return []any{all[i].ID, all[i].Parent, all[i].Item}, nil }))
	return err
}

// MadePgx returns the orders of a time by pgx itself, the oldest first.
func MadePgx(ctx context.Context, conn *pgx.Conn, gen *nanoflake.Generator, from, to time.Time) ([]Order, error) {
	rows, err := conn.Query(ctx, `SELECT id, parent, item FROM orders WHERE id BETWEEN $1 AND $2 ORDER BY id`,
		gen.First(from), gen.Last(to))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByName[Order])
}

// SchemaBytes has a column of each kind for the formats of bytes.
const SchemaBytes = `
CREATE TABLE events (
	id   BYTEA PRIMARY KEY,            -- scru160.Binary, 20 bytes
	text CHAR(32) COLLATE "C" UNIQUE,  -- scru160.ID, 32 characters
	uuid UUID UNIQUE                   -- sno.UUID, 16 bytes: the CHECK refuses a sno.ID, which pgx would pad
		CHECK (uuid::text ~ '^((3[2-9]|6[1-9a-f]|7[0-8])-?){16}$')
)`

// An Event has IDs in columns of other types.
type Event struct {
	ID   scru160.Binary
	Text scru160.ID
	UUID sno.UUID
}

// InsertEvent stores the ID as 20 bytes and as text, and a sno as a UUID.
func InsertEvent(ctx context.Context, conn *pgx.Conn, id scru160.ID, s sno.ID) error {
	_, err := conn.Exec(ctx, `INSERT INTO events (id, text, uuid) VALUES ($1, $2, $3)`, id.Binary(), id, s.UUID())
	return err
}

// FindEvent returns the event with an ID.
func FindEvent(ctx context.Context, conn *pgx.Conn, id scru160.ID) (e Event, err error) {
	row := conn.QueryRow(ctx, `SELECT id, text, uuid FROM events WHERE id = $1`, id.Binary())
	return e, row.Scan(&e.ID, &e.Text, &e.UUID)
}

// Package orders keeps orders by Bun: docs/databases/bun.md has the same code.
package orders

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// An Order can have a parent: an order that it replaces. Bun asks no type for its column: name the
// type in the tag.
type Order struct {
	ID       nanoflake.ID  `bun:"id,pk,type:bigint"`
	ParentID *nanoflake.ID `bun:"parent_id,type:bigint"`
	Parent   *Order        `bun:"rel:belongs-to,join:parent_id=id"`
	Item     string        `bun:"item,notnull"`
}

// Insert stores an order.
func Insert(ctx context.Context, db *bun.DB, o *Order) error {
	_, err := db.NewInsert().Model(o).Exec(ctx)
	return err
}

// Find returns the order with an ID, and its parent, or sql.ErrNoRows.
func Find(ctx context.Context, db *bun.DB, id nanoflake.ID) (o Order, err error) {
	err = db.NewSelect().Model(&o).Relation("Parent").Where("?TableAlias.id = ?", id).Scan(ctx)
	return o, err
}

// Made returns the orders of a time, the oldest first. The primary key is the index of the search.
func Made(ctx context.Context, db *bun.DB, gen *nanoflake.Generator, from, to time.Time) (all []Order, err error) {
	err = db.NewSelect().Model(&all).Where("id BETWEEN ? AND ?", gen.First(from), gen.Last(to)).Order("id").Scan(ctx)
	return all, err
}

// FindAll returns the orders with the IDs, the oldest first.
func FindAll(ctx context.Context, db *bun.DB, ids []nanoflake.ID) (all []Order, err error) {
	err = db.NewSelect().Model(&all).Where("id IN (?)", bun.List(ids)).Order("id").Scan(ctx)
	return all, err
}

// An Event has IDs of the formats of bytes: columns of PostgreSQL.
type Event struct {
	ID   scru160.Binary `bun:"id,pk,type:bytea"`
	Text scru160.ID     `bun:"text,type:char(32)"`
	UUID sno.UUID       `bun:"uuid,type:uuid"`
}

// FindEvent returns the event with an ID.
func FindEvent(ctx context.Context, db *bun.DB, id scru160.ID) (e Event, err error) {
	err = db.NewSelect().Model(&e).Where("id = ?", id.Binary()).Scan(ctx)
	return e, err
}

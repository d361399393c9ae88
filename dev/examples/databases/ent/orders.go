package orders

import (
	"context"
	"time"

	"github.com/firn-id/firn/dev/examples/databases/ent/ent"
	"github.com/firn-id/firn/dev/examples/databases/ent/ent/order"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// Insert stores an order. An order without an ID is an error.
func Insert(ctx context.Context, client *ent.Client, id nanoflake.ID, parent *nanoflake.ID, event scru160.ID, visit sno.ID, item string) (*ent.Order, error) {
	return client.Order.Create().
		SetID(id).
		SetNillableParentID(parent).
		SetEvent(event.Binary()).
		SetVisit(visit.Text()).
		SetItem(item).
		Save(ctx)
}

// Find returns the order with an ID, and its parent.
func Find(ctx context.Context, client *ent.Client, id nanoflake.ID) (*ent.Order, error) {
	return client.Order.Query().Where(order.ID(id)).WithParent().Only(ctx)
}

// FindEvent returns the order of an event.
func FindEvent(ctx context.Context, client *ent.Client, event scru160.ID) (*ent.Order, error) {
	return client.Order.Query().Where(order.Event(event.Binary())).Only(ctx)
}

// Made returns the orders of a time, the oldest first. The primary key is the index of the search.
func Made(ctx context.Context, client *ent.Client, gen *nanoflake.Generator, from, to time.Time) ([]*ent.Order, error) {
	return client.Order.Query().
		Where(order.IDGTE(gen.First(from)), order.IDLTE(gen.Last(to))).
		Order(ent.Asc(order.FieldID)).
		All(ctx)
}

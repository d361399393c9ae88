// Package orders is a GraphQL server of orders by gqlgen: docs/databases/graphql.md has the same code.
package orders

//go:generate go run github.com/99designs/gqlgen@v0.17.98 generate

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
)

// An Order can have a parent: an order that it replaces. ParentID is not in the schema.
type Order struct {
	ID       nanoflake.ID
	ParentID *nanoflake.ID
	Payment  *scru160.ID
	Item     string
}

// A Resolver keeps orders in memory, in the order of their IDs.
type Resolver struct {
	Generator *nanoflake.Generator

	mu     sync.Mutex
	orders []*Order
}

// Query returns the resolver of queries.
func (r *Resolver) Query() QueryResolver { return query{r} }

// Mutation returns the resolver of mutations.
func (r *Resolver) Mutation() MutationResolver { return mutation{r} }

// Order returns the resolver of the fields of an order.
func (r *Resolver) Order() OrderResolver { return order{r} }

func (r *Resolver) find(keep func(*Order) bool) (found []*Order) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.orders {
		if keep(o) {
			found = append(found, o)
		}
	}
	return found
}

func (r *Resolver) get(id nanoflake.ID) *Order {
	for _, o := range r.find(func(o *Order) bool { return o.ID == id }) {
		return o
	}
	return nil
}

type (
	query    struct{ *Resolver }
	mutation struct{ *Resolver }
	order    struct{ *Resolver }
)

// Order returns the order with an ID, or null.
func (q query) Order(_ context.Context, id nanoflake.ID) (*Order, error) { return q.get(id), nil }

// Orders returns the orders with the IDs.
func (q query) Orders(_ context.Context, ids []nanoflake.ID) ([]*Order, error) {
	return q.find(func(o *Order) bool { return slices.Contains(ids, o.ID) }), nil
}

// Made returns the orders of a time, the oldest first.
func (q query) Made(_ context.Context, from, to time.Time) ([]*Order, error) {
	first, last := q.Generator.First(from), q.Generator.Last(to)
	return q.find(func(o *Order) bool { return first <= o.ID && o.ID <= last }), nil
}

// CreateOrder makes the ID of a new order, and stores the order.
func (m mutation) CreateOrder(ctx context.Context, input NewOrder) (*Order, error) {
	if input.Parent != nil && m.get(*input.Parent) == nil {
		return nil, errors.New("no order " + input.Parent.String())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	id, err := m.Generator.Next(ctx)
	if err != nil {
		slog.WarnContext(ctx, "no IDs", "err", err) // for the log only: it can name the store's host and user
		return nil, errors.New("no IDs right now")
	}
	o := &Order{ID: id, ParentID: input.Parent, Payment: input.Payment, Item: input.Item}
	m.orders = append(m.orders, o)
	return o, nil
}

// Parent returns the order that an order replaces, or null.
func (r order) Parent(_ context.Context, o *Order) (*Order, error) {
	if o.ParentID == nil {
		return nil, nil
	}
	return r.get(*o.ParentID), nil
}

// Package orders keeps orders in Redis: docs/databases/redis.md has the same code.
package orders

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/firn-id/firn/nanoflake"
)

// An Order can have a parent: an order that it replaces. An order is a hash of Redis.
type Order struct {
	ID     nanoflake.ID  `redis:"id"`
	Parent *nanoflake.ID `redis:"parent,omitempty"`
	Item   string        `redis:"item"`
}

// A Store keeps orders, and the texts of their IDs in a sorted set.
type Store struct {
	Client *redis.Client
	Prefix string // of all keys
}

// key is the key of an order. The text of an ID in a key is what other programs and redis-cli read.
func (s Store) key(id nanoflake.ID) string { return s.Prefix + "order:" + id.String() }

// index is the key of the sorted set. All scores are 0: members of equal scores sort by their bytes,
// and texts sort by their bytes as the IDs do.
func (s Store) index() string { return s.Prefix + "orders" }

// ErrNoID is the error of an order without an ID. Redis would take the zeros of the zero ID.
var ErrNoID = errors.New("the order has no ID: make one before Insert")

// Insert stores an order.
func (s Store) Insert(ctx context.Context, o Order) error {
	if o.ID.IsZero() || o.Parent != nil && o.Parent.IsZero() {
		return ErrNoID
	}
	_, err := s.Client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HSet(ctx, s.key(o.ID), o)
		p.ZAdd(ctx, s.index(), redis.Z{Member: o.ID.String()})
		return nil
	})
	return err
}

// Find returns the order with an ID, or redis.Nil.
func (s Store) Find(ctx context.Context, id nanoflake.ID) (o Order, err error) {
	fields := s.Client.HGetAll(ctx, s.key(id))
	if err := fields.Scan(&o); err != nil {
		return Order{}, err
	}
	if len(fields.Val()) == 0 {
		return Order{}, redis.Nil
	}
	return o, nil
}

// Made returns the IDs of the orders of a time, the oldest first.
func (s Store) Made(ctx context.Context, gen *nanoflake.Generator, from, to time.Time) ([]nanoflake.ID, error) {
	texts, err := s.Client.ZRangeArgs(ctx, redis.ZRangeArgs{Key: s.index(), ByLex: true,
		Start: "[" + gen.First(from).String(), Stop: "[" + gen.Last(to).String()}).Result()
	if err != nil {
		return nil, err
	}
	ids := make([]nanoflake.ID, len(texts))
	for i, text := range texts {
		if ids[i], err = nanoflake.Parse(text); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// SetLatest stores the ID of the latest order as the value of a key: 8 bytes.
func (s Store) SetLatest(ctx context.Context, id nanoflake.ID) error {
	if id.IsZero() {
		return ErrNoID
	}
	return s.Client.Set(ctx, s.Prefix+"latest", id, 0).Err()
}

// Latest returns the ID of the latest order, or redis.Nil.
func (s Store) Latest(ctx context.Context) (id nanoflake.ID, err error) {
	err = s.Client.Get(ctx, s.Prefix+"latest").Scan(&id)
	return id, err
}

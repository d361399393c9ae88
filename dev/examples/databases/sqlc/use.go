package orders

import (
	"context"
	"time"

	"github.com/firn-id/firn/nanoflake"
)

// Made returns the orders of a time, the oldest first. The primary key is the index of the search.
func Made(ctx context.Context, q *Queries, gen *nanoflake.Generator, from, to time.Time) ([]Order, error) {
	return q.OrdersMade(ctx, OrdersMadeParams{First: gen.First(from), Last: gen.Last(to)})
}

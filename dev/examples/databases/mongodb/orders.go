// Package orders keeps orders in MongoDB: docs/databases/mongodb.md has the same code.
package orders

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
)

// An Order can have a parent: an order that it replaces. The key of a document is _id.
type Order struct {
	ID     nanoflake.ID  `bson:"_id"`
	Parent *nanoflake.ID `bson:"parent"` // null without a parent
	Refund nanoflake.ID  `bson:"refund,omitempty"`
	Event  scru160.ID    `bson:"event,omitempty"`
	Item   string        `bson:"item"`
}

// Insert stores an order.
func Insert(ctx context.Context, orders *mongo.Collection, o Order) error {
	_, err := orders.InsertOne(ctx, o)
	return err
}

// Find returns the order with an ID, or mongo.ErrNoDocuments.
func Find(ctx context.Context, orders *mongo.Collection, id nanoflake.ID) (o Order, err error) {
	err = orders.FindOne(ctx, bson.D{{Key: "_id", Value: id}}).Decode(&o)
	return o, err
}

// Made returns the orders of a time, the oldest first. The index of _id serves the search.
func Made(ctx context.Context, orders *mongo.Collection, gen *nanoflake.Generator, from, to time.Time) (all []Order, err error) {
	between := bson.D{{Key: "$gte", Value: gen.First(from)}, {Key: "$lte", Value: gen.Last(to)}}
	cursor, err := orders.Find(ctx, bson.D{{Key: "_id", Value: between}}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
	if err != nil {
		return nil, err
	}
	return all, cursor.All(ctx, &all)
}

// Replaced returns the orders that replace another order.
func Replaced(ctx context.Context, orders *mongo.Collection, parent nanoflake.ID) (all []Order, err error) {
	cursor, err := orders.Find(ctx, bson.D{{Key: "parent", Value: parent}})
	if err != nil {
		return nil, err
	}
	return all, cursor.All(ctx, &all)
}

package orders

import (
	"database/sql"
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/mongodb"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

func collection(t *testing.T) *mongo.Collection { return mongodb.Open(t).Collection("orders") }

func shop(t *testing.T, c *mongo.Collection) sample.Shop[Order] {
	event, _ := sample.Event(t, 0)
	of := func(o sample.Order) Order {
		order := Order{ID: o.ID, Parent: o.Parent, Event: event, Item: o.Item}
		if o.Parent != nil {
			order.Refund = *o.Parent
		}
		return order
	}
	return sample.On(c, of, Insert, Find, Made, mongo.ErrNoDocuments)
}

func TestOrders(t *testing.T) {
	ctx, c := t.Context(), collection(t)
	all := shop(t, c).TestOrders(t)
	if got, err := Replaced(ctx, c, all[0].ID); err != nil || !reflect.DeepEqual(got, all[3:4]) {
		t.Errorf("replaced: %v, %v, want %v", got, err, all[3:4])
	}
	if err := Insert(ctx, c, all[0]); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("an ID twice: %v", err)
	}

	// The types in the document, and the fields that are left out.
	var raw bson.M
	testkit.OK(t, c.FindOne(ctx, bson.D{{Key: "_id", Value: all[0].ID.Int64()}}).Decode(&raw))
	want := bson.M{"_id": all[0].ID.Int64(), "parent": nil, "event": all[0].Event.String(), "item": all[0].Item}
	if !reflect.DeepEqual(raw, want) {
		t.Errorf("the document is %v, want %v", raw, want)
	}
}

// A forgotten ID reaches no document: without the error, the server would get 0 as the key.
func TestNoID(t *testing.T) {
	c := collection(t)
	shop(t, c).TestNoID(t)
	if n, err := c.CountDocuments(t.Context(), bson.D{}); err != nil || n != 0 {
		t.Errorf("%d documents, %v", n, err)
	}
}

// With the option omitempty on _id, the driver makes an ObjectID for a forgotten ID.
func TestOmitEmptyKey(t *testing.T) {
	type wrong struct {
		ID nanoflake.ID `bson:"_id,omitempty"`
	}
	ctx, c := t.Context(), collection(t)
	testkit.OK(t, testkit.Err(c.InsertOne(ctx, wrong{})))
	var raw bson.M
	testkit.OK(t, c.FindOne(ctx, bson.D{}).Decode(&raw))
	if _, ok := raw["_id"].(bson.ObjectID); !ok {
		t.Errorf("the key is %v", raw["_id"])
	}
}

// MongoDB's driver knows no sql.Null: it writes a document with two fields.
func TestNull(t *testing.T) {
	b, err := bson.Marshal(struct{ Parent sql.Null[nanoflake.ID] }{sql.Null[nanoflake.ID]{V: 1, Valid: true}})
	testkit.OK(t, err)
	if kind := bson.Raw(b).Lookup("parent").Type; kind != bson.TypeEmbeddedDocument {
		t.Errorf("a sql.Null is %v", kind)
	}
}

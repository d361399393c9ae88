package orders

import (
	"database/sql"
	"errors"
	"reflect"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/mongodb"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
)

func collection(t *testing.T) *mongo.Collection { return mongodb.Open(t).Collection("orders") }

func orders(t *testing.T) []Order {
	ids := sample.IDs(t)
	all := make([]Order, len(ids))
	for i, id := range ids {
		event, err := scru160.FromTime(sample.Time(i))
		if err != nil {
			t.Fatal(err)
		}
		all[i] = Order{ID: id, Event: event, Item: "globe " + id.String()}
	}
	all[3].Parent, all[4].Refund = &ids[0], ids[1]
	return all
}

func TestOrders(t *testing.T) {
	ctx, c, gen, all := t.Context(), collection(t), sample.Generator(t), orders(t)
	for _, o := range all {
		if err := Insert(ctx, c, o); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range all {
		if got, err := Find(ctx, c, o.ID); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("found %v, %v, want %v", got, err, o)
		}
	}
	if _, err := Find(ctx, c, nanoflake.Max); !errors.Is(err, mongo.ErrNoDocuments) {
		t.Errorf("an ID without an order: %v", err)
	}
	if got, err := Made(ctx, c, gen, sample.Time(2), sample.Time(4)); err != nil || !reflect.DeepEqual(got, all[2:5]) {
		t.Errorf("made %v, %v, want %v", got, err, all[2:5])
	}
	if got, err := Replaced(ctx, c, all[0].ID); err != nil || !reflect.DeepEqual(got, all[3:4]) {
		t.Errorf("replaced: %v, %v, want %v", got, err, all[3:4])
	}
	if err := Insert(ctx, c, all[0]); !mongo.IsDuplicateKeyError(err) {
		t.Errorf("an ID twice: %v", err)
	}

	// The types in the document, and the fields that are left out.
	var raw bson.M
	if err := c.FindOne(ctx, bson.D{{Key: "_id", Value: all[0].ID.Int64()}}).Decode(&raw); err != nil {
		t.Fatal(err)
	}
	want := bson.M{"_id": all[0].ID.Int64(), "parent": nil, "event": all[0].Event.String(), "item": all[0].Item}
	if !reflect.DeepEqual(raw, want) {
		t.Errorf("the document is %v, want %v", raw, want)
	}
}

// A forgotten ID reaches no document: without the error, the server would get 0 as the key.
func TestNoID(t *testing.T) {
	ctx, c, id := t.Context(), collection(t), sample.IDs(t)[0]
	for _, o := range []Order{{Item: "forgotten"}, {ID: id, Parent: new(nanoflake.ID)}} {
		if err := Insert(ctx, c, o); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("%v: %v", o, err)
		}
	}
	if _, err := Find(ctx, c, 0); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("a search for no ID: %v", err)
	}
	if n, err := c.CountDocuments(ctx, bson.D{}); err != nil || n != 0 {
		t.Errorf("%d documents, %v", n, err)
	}
}

// With the option omitempty on _id, the driver makes an ObjectID for a forgotten ID.
func TestOmitEmptyKey(t *testing.T) {
	type wrong struct {
		ID nanoflake.ID `bson:"_id,omitempty"`
	}
	ctx, c := t.Context(), collection(t)
	if _, err := c.InsertOne(ctx, wrong{}); err != nil {
		t.Fatal(err)
	}
	var raw bson.M
	if err := c.FindOne(ctx, bson.D{}).Decode(&raw); err != nil {
		t.Fatal(err)
	}
	if _, ok := raw["_id"].(bson.ObjectID); !ok {
		t.Errorf("the key is %v", raw["_id"])
	}
}

// A value of another type is an error and never another ID.
func TestWrongValue(t *testing.T) {
	ctx, c := t.Context(), collection(t)
	for i, value := range []any{"0549x5l2itvr4", "673740726894358528", 1.5, float64(1 << 60), true, nil, bson.NewObjectID(), []byte{1}} {
		if _, err := c.InsertOne(ctx, bson.M{"_id": int64(i + 1), "refund": value}); err != nil {
			t.Fatal(err)
		}
		if got, err := Find(ctx, c, nanoflake.ID(i+1)); err == nil {
			t.Errorf("%v reads as %v", value, got.Refund)
		}
	}
}

// MongoDB's driver knows no sql.Null: it writes a document with two fields.
func TestNull(t *testing.T) {
	b, err := bson.Marshal(struct{ Parent sql.Null[nanoflake.ID] }{sql.Null[nanoflake.ID]{V: 1, Valid: true}})
	if err != nil {
		t.Fatal(err)
	}
	if kind := bson.Raw(b).Lookup("parent").Type; kind != bson.TypeEmbeddedDocument {
		t.Errorf("a sql.Null is %v", kind)
	}
}

package matrix

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/firn-id/firn/dev/matrix/cell"
)

// A record is a document of MongoDB, and a message of JSON.
type record[T any] struct {
	N  int `bson:"n" json:"n"`
	ID T   `bson:"_id" json:"id"`
}

// values is the store of encoded documents in memory.
func values[T cell.ID](marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) cell.Store[T] {
	data := map[int][]byte{}
	return cell.Store[T]{
		Put: func(n int, id T) (err error) {
			data[n], err = marshal(record[T]{n, id})
			return err
		},
		Get: func(n int) (T, error) {
			var d record[T]
			err := unmarshal(data[n], &d)
			return d.ID, err
		},
	}
}

// collection is the store of a collection, with the ID as the primary key.
func collection[T cell.ID](t *testing.T, db *mongo.Database, k cell.Kind[T]) cell.Store[T] {
	c, ctx := db.Collection(k.Type), t.Context()
	return cell.Store[T]{
		Put: func(n int, id T) error {
			_, err := c.InsertOne(ctx, record[T]{n, id})
			return err
		},
		Get: func(n int) (T, error) {
			var d record[T]
			err := c.FindOne(ctx, bson.M{"n": n}).Decode(&d)
			return d.ID, err
		},
		Find: func(id T) (rows []int, err error) {
			cursor, err := c.Find(ctx, bson.M{"_id": id})
			if err != nil {
				return nil, err
			}
			var found []record[T]
			if err := cursor.All(ctx, &found); err != nil {
				return nil, err
			}
			for _, d := range found {
				rows = append(rows, d.N)
			}
			return rows, nil
		},
		Order: func() (ids []T, err error) {
			cursor, err := c.Find(ctx, bson.M{}, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}))
			if err != nil {
				return nil, err
			}
			var found []record[T]
			if err := cursor.All(ctx, &found); err != nil {
				return nil, err
			}
			for _, d := range found {
				ids = append(ids, d.ID)
			}
			return ids, nil
		},
		Drop: func(id T) error {
			_, err := c.DeleteOne(ctx, bson.M{"_id": id})
			return err
		},
	}
}

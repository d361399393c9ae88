// Package mongodb gives each test a database of MongoDB, or of FerretDB. FerretDB speaks MongoDB's protocol, and
// keeps documents in SQLite.
package mongodb

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/FerretDB/FerretDB/ferretdb"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/firn-id/firn/internal/testing/undo"
	"github.com/firn-id/firn/internal/testing/wait"
)

// databases drops a database of a test.
var databases = undo.New("databases of MongoDB", func(ctx context.Context, what string) error {
	uri, name, _ := strings.Cut(what, "\n")
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		return err
	}
	defer client.Disconnect(ctx)
	return client.Database(name).Drop(ctx)
})

// Open returns an empty database: of the server that FIRN_TEST_MONGODB names, or of a FerretDB in this process.
func Open(t testing.TB) *mongo.Database {
	t.Helper()
	name := "firn_dev_" + bson.NewObjectID().Hex()
	uri := os.Getenv("FIRN_TEST_MONGODB")
	if uri == "" {
		uri = ferret(t)
	} else {
		databases.AtEnd(t, uri+"\n"+name)
	}
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Disconnect(context.Background()) })
	return client.Database(name)
}

// ferret starts FerretDB, with its data in a folder of the test.
func ferret(t testing.TB) (uri string) {
	t.Helper()
	server, err := ferretdb.New(&ferretdb.Config{
		Listener: ferretdb.ListenerConfig{TCP: "127.0.0.1:0"}, Logger: slog.New(slog.DiscardHandler),
		Handler: "sqlite", SQLiteURL: "file:" + t.TempDir() + "/",
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		server.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); wait.Closed(t, "FerretDB has ended", done) })
	return server.MongoDBURI()
}

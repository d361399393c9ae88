package matrix

import (
	"context"
	"log/slog"
	"testing"

	"github.com/FerretDB/FerretDB/ferretdb"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/firn-id/firn/internal/testing/wait"
)

// openMongo starts FerretDB in this process, with a folder of the test for its data, and connects to
// FerretDB by MongoDB's driver.
func openMongo(t *testing.T) *mongo.Database {
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
	client, err := mongo.Connect(options.Client().ApplyURI(server.MongoDBURI()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Disconnect(context.Background())
		cancel()
		wait.Closed(t, "FerretDB has ended", done)
	})
	return client.Database("matrix")
}

package server_test

import (
	"context"
	"log"
	"os/signal"
	"syscall"

	_ "github.com/firn-id/firn/lease/filelease" // the stores of addresses that begin with file://

	"github.com/firn-id/firn/server"
)

// A program serves IDs until SIGTERM.
func Example() {
	config := server.Config{
		Listen: []string{"127.0.0.1:7433"},
		Generators: []server.Generator{
			{Name: "order", Format: "nanoflake", Workers: 4, Store: "file:///var/lib/orders/ids", Keys: []string{"order:*"}},
		},
	}
	s, err := server.New(config)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := s.Serve(ctx); err != nil {
		log.Fatal(err)
	}
}

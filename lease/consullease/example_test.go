package consullease_test

import (
	"context"
	"log"

	"github.com/firn-id/firn/lease/consullease"
)

// All processes of a system name the same servers and the same prefix of keys. The pool was created once, by
// firn pool create nanoflake --store consul://….
func ExampleOpen() {
	store, err := consullease.Open(context.Background(), "consul://consul-1,consul-2,consul-3/firn?token-file=/run/secrets/consul")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	// Start a lease in the store, as in the example of lease.Start.
}

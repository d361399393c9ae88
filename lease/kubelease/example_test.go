package kubelease_test

import (
	"context"
	"log"

	"github.com/firn-id/firn/lease/kubelease"
)

// All processes of a cluster name the same namespace and the same prefix. In a pod, the store takes the server and the
// token of the service account. The pool was created once, by firn pool create nanoflake --store kubernetes://orders/firn.
func ExampleOpen() {
	store, err := kubelease.Open(context.Background(), "kubernetes://orders/firn")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	// Start a lease in the store, as in the example of lease.Start.
}

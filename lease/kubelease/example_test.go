package kubelease_test

import (
	"context"
	"fmt"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/kubelease"
	"github.com/firn-id/firn/nanoflake"
)

// All processes of a cluster name the same namespace and the same prefix. In a pod, the store takes the server and the
// token of the service account. The pool was created once, by firn pool create nanoflake --store kubernetes://orders/firn.
func ExampleOpen() {
	ctx := context.Background()
	store, err := kubelease.Open(ctx, "kubernetes://orders/firn")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer held.Close()
	fmt.Println(gen.Next(ctx))
}

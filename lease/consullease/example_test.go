package consullease_test

import (
	"context"
	"fmt"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/consullease"
	"github.com/firn-id/firn/nanoflake"
)

// All processes of a system name the same servers and the same prefix of keys. The pool was created once, by
// firn pool create nanoflake --store consul://….
func ExampleOpen() {
	ctx := context.Background()
	store, err := consullease.Open(ctx, "consul://consul-1,consul-2,consul-3/firn?token-file=/run/secrets/consul")
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

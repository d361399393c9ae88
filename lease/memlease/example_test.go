package memlease_test

import (
	"context"
	"fmt"
	"log"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// A test of a program gives the program a store in memory. Each call of Open stands for one more
// process.
func ExampleNew() {
	ctx := context.Background()
	store := memlease.New()
	defer store.Close()

	workers := make(map[int]bool)
	for range 3 {
		process := store.Open()
		defer process.Close()
		gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
		if err != nil {
			log.Fatal(err)
		}
		held, err := lease.Start(ctx, process, gen, lease.Config{})
		if err != nil {
			log.Fatal(err)
		}
		defer held.Close()
		workers[held.Worker()] = true
	}
	fmt.Println(len(workers), "workers")
	// Output: 3 workers
}

package grant_test

import (
	"fmt"
	"log"

	"github.com/firn-id/firn/scru160"
)

// A generator names its pool after each setting that is not the default of its format: generators that could
// make equal IDs with different workers never share a pool.
func ExamplePool() {
	gen, err := scru160.NewGenerator(scru160.Config{NodeBits: 8, Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	pool, err := gen.ForLease().Pool()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pool.Name)
	fmt.Println(pool.Layout.Workers, "workers, a tick of", pool.Layout.Unit)
	// Output:
	// scru160-0-8
	// 256 workers, a tick of 1ms
}

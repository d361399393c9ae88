// Hello makes a Nanoflake with a leased generator ID, and prints the ID and its time.
//
//	go run ./examples/hello [directory]
//
// The directory keeps the leases. Without a directory, hello uses a directory of the user, and
// refuses to run where that directory would be lost, as in a container.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
)

func main() {
	if err := hello(context.Background()); err != nil {
		log.Fatal(err) // says what is wrong, and what to do
	}
}

func hello(ctx context.Context) error {
	store, err := open() // the leases are files, which all processes of this machine share
	if err != nil {
		return err
	}
	defer store.Close()

	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return err
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{}) // gives gen a generator ID of its own
	if err != nil {
		return err
	}
	defer held.Close() // gives the generator ID back

	id, err := gen.Next(ctx)
	if err != nil {
		return err
	}
	fmt.Println(id, "was made by generator", id.GeneratorID(), "at", gen.Time(id))
	return nil
}

func open() (*filelease.Store, error) {
	if len(os.Args) > 1 {
		return filelease.Open(os.Args[1])
	}
	return filelease.OpenDefault()
}

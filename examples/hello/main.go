// Hello makes a Nanoflake with a leased generator ID, and prints the ID and its time.
//
//	go run ./examples/hello DIRECTORY
//
// The directory keeps the leases. Hello makes a directory that does not exist.
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
	if len(os.Args) != 2 {
		log.Fatal("usage: hello DIRECTORY")
	}
	if err := hello(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err) // says what is wrong, and what to do
	}
}

func hello(ctx context.Context, dir string) error {
	store, err := filelease.Open(dir) // the leases are files, which all processes of this machine share
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

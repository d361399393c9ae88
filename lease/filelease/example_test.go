//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease_test

import (
	"log"

	"github.com/firn-id/firn/lease/filelease"
)

// All processes of a machine open the same directory.
func ExampleOpen() {
	store, err := filelease.Open("/var/lib/orders/ids")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	// Start a lease in the store, as in the example of lease.Start. The first lease creates the pool.
}

// A deployed program demands that the store is there: firn pool create has made it.
func ExampleOpen_noCreate() {
	store, err := filelease.Open("/var/lib/firn", filelease.NoCreate)
	if err != nil {
		log.Fatal(err) // filelease.ErrNoStore names the directory that is missing, or has no store
	}
	defer store.Close()
}

//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
)

// All processes of a machine open the same directory.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "ids-") // a program names a directory that lasts: /var/lib/orders/ids
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	store, err := filelease.Open(filepath.Join(dir, "ids"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		log.Fatal(err)
	}
	held, err := lease.Start(context.Background(), store, gen, lease.Config{}) // creates the pool
	if err != nil {
		log.Fatal(err)
	}
	defer held.Close()
	fmt.Println(lease.Names(context.Background(), store))
	// Output: [nanoflake] <nil>
}

// A deployed program demands that the store is there: firn pool create has made it.
func ExampleOpen_existing() {
	store, err := filelease.Open("/var/lib/firn", filelease.Existing)
	if err != nil {
		log.Fatal(err) // filelease.ErrNoStore names the directory that is missing, or has no store
	}
	defer store.Close()
}

// A tool for one user needs no setting: the default directory is the user's own. In a container the
// default directory is lost with the container, and OpenDefault refuses it.
func ExampleOpenDefault() {
	store, err := filelease.OpenDefault()
	switch {
	case errors.Is(err, filelease.ErrNoDefault):
		log.Fatal(err, " (name a directory on a volume: --state DIR)")
	case err != nil:
		log.Fatal(err)
	}
	defer store.Close()
}

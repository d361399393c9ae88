// Package generator makes the generator of the pages of docs/databases, which begin with the same code.
package generator

import (
	"context"
	"os"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	_ "github.com/firn-id/firn/lease/filelease" // file:///DIRECTORY
	"github.com/firn-id/firn/nanoflake"
)

// With calls use with a leased generator, and then gives the worker back.
func With(ctx context.Context, use func(context.Context, *nanoflake.Generator) error) error {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return err
	}
	open := func(ctx context.Context) (driver.Store, error) { return lease.OpenStore(ctx, os.Getenv("FIRN_STORE")) }
	held, err := lease.OpenAndStart(ctx, open, gen, lease.Config{})
	if err != nil {
		return err
	}
	defer held.Close() // gives the worker back, and closes the store

	return use(ctx, gen)
}

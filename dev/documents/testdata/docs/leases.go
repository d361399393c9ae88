// Package page has what the pieces of docs/leases.md do not declare.
package page

import (
	"context"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/nanoflake"
)

var (
	ctx    context.Context
	gen    *nanoflake.Generator
	store  driver.Store
	held   *lease.Lease
	id     nanoflake.ID
	answer func(nanoflake.ID)
)

// Package page has what the pieces of docs/deploy.md do not declare.
package page

import (
	"context"
	"os"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/nanoflake"
)

var (
	ctx    context.Context
	notify func(lease.Event)
)

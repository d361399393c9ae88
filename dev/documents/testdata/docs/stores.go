// Package page has what the piece of docs/stores.md does not declare.
package page

import (
	"context"
	"log/slog"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/nanoflake"
)

var ctx context.Context

// Package page has what the pieces of docs/typed.md do not declare.
package page

import (
	"context"
	"net/http"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/typed"
)

var (
	ctx   context.Context
	gen   *nanoflake.Generator
	r     *http.Request
	plain nanoflake.ID
)

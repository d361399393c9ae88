// Package sqlcgen has the queries that sqlc makes for the matrix.
package sqlcgen

import _ "embed"

// Schema makes the tables.
//
//go:embed schema.sql
var Schema string

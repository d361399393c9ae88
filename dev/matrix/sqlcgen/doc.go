// Package sqlcgen has the queries that sqlc makes for the matrix.
package sqlcgen

import _ "embed"

// Schema makes the tables.
//
//go:embed schema.sql
var Schema string

//go:generate env CGO_ENABLED=0 go run github.com/sqlc-dev/sqlc/cmd/sqlc@v1.31.1 generate

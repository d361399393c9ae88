// Package openapi has an OpenAPI document with a schema for each format: docs/databases/openapi.md has
// the same schemas.
package openapi

import _ "embed"

// Document describes the API of orders.
//
//go:embed openapi.yaml
var Document []byte

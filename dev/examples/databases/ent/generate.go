// Package orders keeps orders by ent: docs/databases/ent.md has the same code.
package orders

//go:generate go run entgo.io/ent/cmd/ent@v0.14.5 generate --target ent ./schema

// Package entgen is what ent makes for the matrix.
package entgen

//go:generate go run entgo.io/ent/cmd/ent@v0.14.5 generate --target ./ent ./schema

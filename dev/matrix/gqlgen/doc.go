// Package gqlgen is what gqlgen makes for the matrix.
package gqlgen

//go:generate go run github.com/99designs/gqlgen@v0.17.98 generate

// Package pbgen has the messages of the matrix.
package pbgen

//go:generate go run ./gen

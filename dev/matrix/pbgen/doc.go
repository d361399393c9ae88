// Package pbgen has the messages of the matrix.
package pbgen

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.75.0 generate

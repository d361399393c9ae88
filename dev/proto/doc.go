// Package proto makes the package firnv1 of the server from firn.proto:
//
//	go generate -C dev ./proto
//
// The go.mod of this module says which versions of the plugins run.
package proto

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.75.0 generate ../../server/proto

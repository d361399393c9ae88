// Command proto makes the package firnv1 of the server from firn.proto.
//
//	go generate -C dev ./proto
package main

//go:generate go run . ../../server/proto ../../server

import (
	"context"
	"fmt"
	"os"

	"github.com/firn-id/firn/dev/internal/protogo"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: proto SOURCES MODULE")
		os.Exit(2)
	}
	// The names of the files that plugins write begin with the module. The go.mod of this module says which versions of the
	// plugins run.
	const source, parameter = "firn/v1/firn.proto", "module=github.com/firn-id/firn/server"
	err := protogo.Generate(context.Background(), os.Args[1], source, os.Args[2], parameter,
		"google.golang.org/protobuf/cmd/protoc-gen-go", "google.golang.org/grpc/cmd/protoc-gen-go-grpc")
	if err != nil {
		fmt.Fprintln(os.Stderr, "proto:", err)
		os.Exit(1)
	}
}

// Command gen makes rows.pb.go from rows.proto.
package main

import (
	"context"
	"log"

	"github.com/firn-id/firn/dev/internal/protogo"
)

func main() {
	log.SetFlags(0)
	err := protogo.Generate(context.Background(), ".", "rows.proto", ".", "paths=source_relative", "google.golang.org/protobuf/cmd/protoc-gen-go")
	if err != nil {
		log.Fatal(err)
	}
}

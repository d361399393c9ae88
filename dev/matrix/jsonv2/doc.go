//go:build !goexperiment.jsonv2

// Command jsonv2 runs the cells of encoding/json/v2.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "jsonv2: this build has no encoding/json/v2: set GOEXPERIMENT=jsonv2")
	os.Exit(1)
}

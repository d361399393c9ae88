//go:build !linux

package main

import "os"

func main() {
	os.Stderr.WriteString("faults: the servers that it starts and breaks take Linux\n")
	os.Exit(1)
}

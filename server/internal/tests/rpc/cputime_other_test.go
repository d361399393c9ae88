//go:build !unix

package rpc

// processorTime returns 0: benchmarks take Unix.
func processorTime() int64 { return 0 }

// Package rpc tests gRPC with grpcurl, a client that knows nothing of Firn, and measures streams between two processes.
package rpc

// Package explore runs the word of internal/engine/words through every interleaving of a few callers, and
// searches for an interleaving that breaks a promise of the word. It does the same with the random
// increments of internal/engine/steps and the count of internal/engine/tally.
//
// The search runs the real packages. The tests are built with an overlay of the go command that adds a
// function to sync/atomic: the methods of an atomic.Uint64 of the model ask the search for their results, and
// all other atomics work as usual. TestMain builds the tests again with the overlay, which changes only
// testdata/uint64.go and the names of the methods in the file of the toolchain. Every operation on memory is
// then a step of the search.
//
// There are no goroutines. The next operation of a caller depends only on the results of its
// operations so far, so the list of results represents the caller. To find the next operation, the
// search runs the call again from the start with these results, up to the first operation without a
// result. See [Model].
package explore

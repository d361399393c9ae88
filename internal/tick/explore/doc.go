// Package explore runs the word of internal/tick through every interleaving of a few callers, and
// looks for one that breaks what the word promises.
//
// What runs is the source of word.go itself. A generator copies it and replaces one thing, the
// import of sync/atomic, by the simulated atomics of this tree, so that every operation on memory
// is a step that the search may put anywhere.
//
//	atomic/    simulated atomics: every operation asks the search for its result
//	gen/       writes simtick from word.go; its test fails if simtick is stale
//	simtick/   word.go on simulated atomics, and its mutants: types that embed the word and override
//	           one method with a faulty one, which the search must find
//	split/     the design with two atomics, which the search must find at fault
//
// No goroutines are involved. What a caller does next depends on the results of its operations so
// far and on nothing else, so a caller is the list of those results: to learn its next operation,
// its call is run again from the start, given the results, up to the first operation that has none.
// See [Model].
package explore

//go:generate go run ./gen

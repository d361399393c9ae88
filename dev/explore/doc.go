// Package explore runs the word of internal/engine/words through every interleaving of a few callers, and
// searches for an interleaving that breaks a promise of the word.
//
// The search runs the source of word.go. A generator copies word.go and replaces only the import of
// sync/atomic with the simulated atomics of this tree. Every operation on memory is then a step of
// the search.
//
//	atomic/    simulated atomics: every operation asks the search for its result
//	gen/       writes simwords from word.go; its test fails if simwords is stale
//	simwords/  word.go on simulated atomics, and its mutants: types that embed the word and override
//	           one method with a faulty one, which the search must find
//	simsteps/  steps.go of internal/engine/steps in the same way, and its mutants; simtally/ likewise has
//	           count.go of internal/engine/tally
//	split/     the design with two atomics, which the search must find at fault
//
// There are no goroutines. The next operation of a caller depends only on the results of its
// operations so far, so the list of results represents the caller. To find the next operation, the
// search runs the call again from the start with these results, up to the first operation without a
// result. See [Model].
package explore

//go:generate go run ./gen

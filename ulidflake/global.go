package ulidflake

import (
	"sync"
	"sync/atomic"
)

// made is the generator of New: nil before the first call.
var made atomic.Pointer[Generator]

// global returns the generator of New. It is small enough for the compiler to inline.
func global() *Generator {
	if g := made.Load(); g != nil {
		return g
	}
	return makeGlobal()
}

var makeGlobal = sync.OnceValue(func() *Generator {
	g, err := newGenerator(Config{})
	if err != nil {
		panic(err) // the zero Config is valid
	}
	made.Store(g)
	return g
})

// New returns a new ID of the package-level generator, greater than all earlier IDs of New. The
// generator has the zero [Config]: it is for a system with ONE generator. Two processes that call
// New can make equal IDs. A program with [NewGenerator] gets errors in place of long waits.
//
// New waits for the next millisecond once the randomness of this millisecond passes its largest value.
// It has no error to return, and therefore also waits for a clock behind the last ID, for a clock
// before the epoch, and for ever after the last timestamp. New is safe for concurrent use, and never
// returns the zero ID.
//
// Specification: "Introduction", ulidflake.New() and ulidflake.New().Int().
func New() ID {
	g := global()
	word, ok := g.mint.Fast()
	if !ok {
		word = g.mint.Await()
	}
	return ID(word)
}

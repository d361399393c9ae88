package sno

import (
	"sync"
	"sync/atomic"
	"time"
)

// made is the generator of New and NewWithTime: nil before the first call.
var made atomic.Pointer[Generator]

// global returns the generator of New and NewWithTime. It is small enough for the compiler to
// inline.
func global() *Generator {
	if g := made.Load(); g != nil {
		return g
	}
	return makeGlobal()
}

// makeGlobal makes the generator of New and NewWithTime. Its partition is the spare partition of
// the pool.
var makeGlobal = sync.OnceValue(func() *Generator {
	g, err := newGenerator(Config{Snapshot: &GeneratorSnapshot{Partition: partitions.spare()}})
	if err != nil {
		panic(err) // a snapshot with the default bounds is valid
	}
	made.Store(g)
	return g
})

// New uses the package-level generator to generate a new ID using the current system time for its
// timestamp. See [Generator.New]. The partition of the package-level generator is drawn at random:
// New is for a system with one process.
func New(meta byte) ID {
	g := global()
	word, ok := g.fast()
	if !ok {
		return g.newSlowly(meta)
	}
	var id ID
	g.put(&id, word, meta)
	return id
}

// NewWithTime uses the package-level generator to generate a new ID using the given time for the
// timestamp. See [Generator.NewWithTime]: these IDs can collide.
func NewWithTime(meta byte, t time.Time) ID { return global().NewWithTime(meta, t) }

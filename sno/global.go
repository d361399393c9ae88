package sno

import (
	"sync"
	"time"
)

// global is the generator of New and NewWithTime, made when it is first used. Its
// partition is the one that the pool of default partitions keeps for it.
var global = sync.OnceValue(func() *Generator {
	g, err := newGenerator(Config{Snapshot: &GeneratorSnapshot{Partition: partitions.spare()}})
	if err != nil {
		panic(err) // a snapshot with the default bounds is valid
	}
	return g
})

// New uses the package-level generator to generate a new ID using the current system time
// for its timestamp. See [Generator.New].
func New(meta byte) ID { return global().New(meta) }

// NewWithTime uses the package-level generator to generate a new ID using the given time
// for the timestamp. See [Generator.NewWithTime] for what it does not promise.
func NewWithTime(meta byte, t time.Time) ID { return global().NewWithTime(meta, t) }

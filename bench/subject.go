package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A subject is one way to make IDs, Firn's or a peer's, and to read and write them.
//
// Each has loops of its own, written out, that call its functions directly: a call through
// a closure costs about as much as some of what is measured.
type subject struct {
	name   string // in results: the format if it is Firn's, else the owner and the module
	title  string // for readers
	module string // whose version counts; "" for Firn and the standard library
	kin    string // a peer's: the name of the nearest of Firn's

	cap   capacity // zero if it has none that could be met here
	burst int      // how many IDs are made in a tick below the cap; 0 for as many as others make
	loose bool     // it reads texts that are none, as some ID
	bound bool     // it makes no IDs, but does what Firn's can hardly do without

	next  func() (loop, error)   // a generator's loop
	batch func() (loop, error)   // a generator's that makes many IDs at a time, if it can
	seq   func() (loop, error)   // a generator's that iterates over IDs, if it can
	ticks func() (loop, error)   // a bound's that waits for ticks, each of which counts as an ID
	codec func() (*codec, error) // if it has a text
	sort  func(n int) (*sorter, error)
}

// A capacity is how many IDs a layout allows in a tick; on average, if that is left to chance.
type capacity struct {
	ids  float64
	tick time.Duration
}

// perSecond returns the IDs of a second.
func (c capacity) perSecond() float64 { return c.ids / c.tick.Seconds() }

// pace returns how many IDs are made in a tick below the cap, and the tick: the same for
// all subjects but those whose layouts do not allow it.
func (s *subject) pace() (burst int, tick time.Duration) {
	burst, tick = 3000, time.Millisecond
	if c := s.cap; c.ids > 0 && c.perSecond() < float64(burst)/tick.Seconds() {
		burst, tick = int(c.ids*3/4), c.tick
	}
	if s.burst > 0 {
		burst = s.burst
	}
	return burst, tick
}

func (s *subject) firn() bool { return s.kin == "" }

// subjects are all that are measured.
var subjects = slices.Concat(firnSubjects, peerSubjects, standardSubjects, boundSubjects)

// find returns the subject of that name.
func find(name string) (*subject, error) {
	for i := range subjects {
		if subjects[i].name == name {
			return &subjects[i], nil
		}
	}
	return nil, fmt.Errorf("no subject is named %q", name)
}

// A loop makes n IDs, one after the other. Several goroutines may run it at once.
type loop func(n int) error

// loopOf returns f as a loop. That f returns the last ID keeps the compiler from making less
// of an ID than it is.
//
// A generator's IDs that are arrays are dropped instead: Go returns them in memory, and copying one from
// there before it has left the store buffer takes about 10 ns if the next thing is another
// atomic operation. That is the price of making IDs back to back, not of an ID. Those functions
// are too large to be inlined, so an ID that is dropped has been made all the same; a test
// sees to it.
func loopOf[T any](f func(n int) (T, error)) loop {
	return func(n int) error {
		_, err := f(n)
		return err
	}
}

// batchIDs is how many IDs are asked for at once where many are.
const batchIDs = 1000

// batchesOf returns the loop that fills slices by f.
func batchesOf[T any](f func([]T) (int, error)) loop {
	dst := make([]T, batchIDs)
	return func(n int) error {
		for ; n > 0; n -= batchIDs {
			if _, err := f(dst[:min(n, batchIDs)]); err != nil {
				return err
			}
		}
		return nil
	}
}

// A codec writes and reads as many IDs as it has texts, all of them at each call.
type codec struct {
	texts  []string
	encode func() []byte // into a buffer, which it returns with the last; nil if the package cannot
	str    func() string // as strings; it returns the last
	decode func() error  // reads texts; an error says that one of them is none, unless the subject is loose
}

// codecIDs is how many IDs a codec has: few enough for the nearest cache.
const codecIDs = 512

// codecOf returns the codec of IDs that f makes. The other functions write all the IDs,
// each over the one before it, and read all the texts.
func codecOf[T comparable](f func() (T, error), encode func(buf []byte, ids []T) []byte, str func(ids []T) string,
	decode func(texts []string) (T, error)) (*codec, error) {
	ids, err := take(codecIDs, f)
	if err != nil {
		return nil, err
	}
	c := &codec{texts: make([]string, len(ids)), str: func() string { return str(ids) }}
	for i := range ids {
		c.texts[i] = str(ids[i : i+1])
	}
	if encode != nil {
		buf := make([]byte, 0, 64)
		c.encode = func() []byte { return encode(buf, ids) }
	}
	if decode != nil {
		c.decode = func() error {
			last, err := decode(c.texts)
			if err == nil && last != ids[len(ids)-1] {
				err = fmt.Errorf("%s was read as another ID, %v", c.texts[len(ids)-1], last)
			}
			return err
		}
	}
	return c, nil
}

// take returns n IDs that f makes.
func take[T any](n int, f func() (T, error)) ([]T, error) {
	ids := make([]T, n)
	for i := range ids {
		var err error
		if ids[i], err = f(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// A sorter brings IDs out of order, always in the same way, and sorts them.
type sorter struct {
	shuffle, sort func()
	sorted        func() bool
}

// sorterOf returns the sorter of n IDs that f makes.
func sorterOf[T any](n int, f func() (T, error), by func([]T), compare func(a, b T) int) (*sorter, error) {
	shuffled, err := take(n, f)
	if err != nil {
		return nil, err
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	ids := slices.Clone(shuffled)
	return &sorter{
		shuffle: func() { copy(ids, shuffled) },
		sort:    func() { by(ids) },
		sorted:  func() bool { return slices.IsSortedFunc(ids, compare) },
	}, nil
}

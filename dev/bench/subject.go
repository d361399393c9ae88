package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/firn-id/firn/internal/shape"
)

// A subject is one way to make IDs, Firn's or a peer's, and to read and write them.
//
// Each subject has loops of its own, written out, which call its functions directly. A loop that is
// generic over the type of ID calls through a dictionary, without inlining. Measured in one run, a
// generic loop took 1.7 to 3.2 times as long over Seq, and for IDs that are arrays up to 2.8 times
// over AppendText and 1.9 times over Parse. Fill, with 1000 IDs a call, took the same: its loop is
// generic, see fills.
type subject struct {
	name   string // in results: the format of Firn, or the owner and the module of a peer
	title  string // for readers
	module string // the module, for its version; "" for Firn and the standard library
	kin    string // of a peer: the name of the nearest format of Firn

	cap   capacity // zero if the layout has no limit, or a limit beyond reach
	burst int      // how many IDs a loop makes in a tick below the cap; 0 for the same as other subjects
	loose bool     // the decoder reads invalid texts as some ID
	bound bool     // makes no IDs: see boundSubjects

	next  func() (loop, error)   // one ID at a time
	batch func() (loop, error)   // many IDs at a time; nil if the generator cannot
	seq   func() (loop, error)   // IDs from an iterator; nil if the generator cannot
	ticks func() (loop, error)   // of a bound: waits for ticks, and counts each tick as an ID
	codec func() (*codec, error) // nil if the IDs have no text
	sort  func(n int) (*sorter, error)
}

// A capacity is how many IDs a layout allows in a tick, on average if the number is random.
type capacity struct {
	ids  float64
	tick time.Duration
}

// capacityOf returns the capacity of a format of Firn.
func capacityOf(d *shape.Format, set shape.Settings) capacity {
	s, err := d.Of(set)
	if err != nil {
		panic(err) // the settings are constants
	}
	return capacity{float64(s.Capacity()), s.Unit}
}

// perSecond returns how many IDs the capacity allows in a second.
func (c capacity) perSecond() float64 { return c.ids / c.tick.Seconds() }

// pace returns how many IDs a loop makes in a tick below the cap, and the length of the tick. Both are
// the same for all subjects whose layouts allow the number.
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

// subjects are all measured subjects.
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

// A loop makes n IDs, one after the other. It is safe for concurrent use.
type loop func(n int) error

// loopOf returns f as a loop. f returns the last ID, so the compiler has to make the whole ID.
//
// Loops over generators whose IDs are arrays drop the IDs instead. Go returns arrays in memory, and a
// copy of an array that is still in the store buffer takes about 10 ns if an atomic operation follows.
// The copy is a price of making IDs back to back, not of making an ID. The generators' functions are
// too large for inlining, so a dropped ID is made in full; a test checks this.
func loopOf[T any](f func(n int) (T, error)) loop {
	return func(n int) error {
		_, err := f(n)
		return err
	}
}

// batchIDs is how many IDs a batch has.
const batchIDs = 1000

// A filler is a generator that makes many IDs at a time.
type filler[T any] interface {
	Fill(ctx context.Context, dst []T) (int, error)
}

// fills returns a function that makes a generator and returns the loop over its Fill.
func fills[T any, G filler[T]](generator func() (G, error)) func() (loop, error) {
	return func() (loop, error) {
		g, err := generator()
		return batchesOf(func(dst []T) (int, error) { return g.Fill(ctx, dst) }), err
	}
}

// batchesOf returns a loop that fills slices by f.
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

// A codec writes and reads IDs. Each call handles all of the codec's IDs.
type codec struct {
	texts  []string
	encode func() []byte // writes texts into a buffer and returns the buffer; nil if the package cannot
	str    func() string // writes texts as strings and returns the last string
	decode func() error  // reads the texts; an error if a text is invalid, unless the subject is loose
}

// codecIDs is how many IDs a codec has: few enough for the first cache of the processor.
const codecIDs = 512

// codecOf returns a codec for IDs that f makes. encode and str write all IDs, each over the ID before
// it. decode reads all texts and returns the last ID.
func codecOf[T comparable](f func() (T, error), encode func(buf []byte, ids []T) []byte, str func(ids []T) string,
	decode func(texts []string) (T, error)) (*codec, error) {
	ids, err := makeIDs(codecIDs, f)
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

// makeIDs returns n IDs that f makes.
func makeIDs[T any](n int, f func() (T, error)) ([]T, error) {
	ids := make([]T, n)
	for i := range ids {
		var err error
		if ids[i], err = f(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// A sorter shuffles IDs, always in the same way, and sorts them.
type sorter struct {
	shuffle, sort func()
	sorted        func() bool
}

// sorterOf returns a sorter of n IDs that f makes.
func sorterOf[T any](n int, f func() (T, error), by func([]T), compare func(a, b T) int) (*sorter, error) {
	shuffled, err := makeIDs(n, f)
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

// Package keys makes the primary keys of the tables: IDs of a few workers, in the order of arrival.
//
// The generators run on a simulated clock. The number of IDs in a tick decides how far the IDs of
// different workers are out of order, and with a real clock the number would depend on the machine.
package keys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firn-id/firn/iderr"
)

// A Column is the type of a primary key, for each database to translate.
type Column int

const (
	Assigned Column = iota // bigint with a number that the server assigns: bigserial, auto_increment
	Integer                // bigint
	Bytes                  // bytea, binary(n)
	UUID                   // the type for UUIDs
	Chars                  // char(n), compared byte by byte
	Words                  // char(n), compared by the rules of a language
)

// A Format is one kind of primary key.
type Format struct {
	Name   string // in results and in flags
	Title  string // for readers
	Column Column
	Width  int // of a key in bytes, as a Set holds the key

	// Only names the one server that measures the format; "" means all servers.
	Only string

	Workers int // that make the keys; 0 for as many as the pace says

	start func(p Pace, c *clock) (maker, error) // nil if the server assigns the keys
}

// A maker appends the next key of a worker.
type maker func(dst []byte, worker int) ([]byte, error)

// Generated reports whether the program makes the keys. Otherwise the server assigns the keys.
func (f *Format) Generated() bool { return f.start != nil }

// Firn reports whether Firn makes the keys.
func (f *Format) Firn() bool { return f.Generated() && !strings.HasPrefix(f.Name, "uuid") }

// A Pace says at what times the keys of a table are made.
type Pace struct {
	Start     time.Time // of the simulated clock
	PerSecond int       // IDs of all workers
	Workers   int       // make the IDs in turns
}

// Realistic is a busy system: 50 IDs in a millisecond, of four workers.
func Realistic() Pace {
	return Pace{Start: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), PerSecond: 50_000, Workers: 4}
}

// A clock is the simulated clock that all workers read.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

// A Set is keys of one width, in the order in which the workers make the keys.
type Set struct {
	width int
	flat  []byte
}

// longestWait is how far a worker may fall behind while it waits for ticks. A worker that falls
// behind further cannot keep the pace.
const longestWait = 20 * time.Millisecond

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Generate makes n keys. A worker whose tick is exhausted waits for the next tick, as Next does. The Set is empty if the server assigns the keys.
func Generate(f *Format, n int, p Pace) (Set, error) {
	if !f.Generated() {
		return Set{}, nil
	}
	if f.Workers > 0 {
		p.Workers = f.Workers
	}
	c := &clock{now: p.Start}
	next, err := f.start(p, c)
	if err != nil {
		return Set{}, fmt.Errorf("%s: %w", f.Name, err)
	}
	s := Set{width: f.Width, flat: make([]byte, 0, n*f.Width)}
	ready := make([]time.Time, p.Workers) // when each worker has waited for its last tick
	for i := range n {
		worker := i % p.Workers
		due := p.Start.Add(time.Duration(float64(i) / float64(p.PerSecond) * float64(time.Second)))
		c.now = later(due, ready[worker])
		s.flat, err = next(s.flat[:i*f.Width], worker)
		for errors.Is(err, iderr.ErrExhausted) && c.now.Sub(due) < longestWait {
			c.now = c.now.Truncate(time.Millisecond).Add(time.Millisecond)
			s.flat, err = next(s.flat[:i*f.Width], worker)
		}
		ready[worker] = c.now
		if err != nil {
			return Set{}, fmt.Errorf("%s: key %d, with %d IDs/s of %d workers: %w", f.Name, i, p.PerSecond, p.Workers, err)
		}
		if len(s.flat) != (i+1)*f.Width {
			return Set{}, fmt.Errorf("%s: key %d has %d bytes, not %d", f.Name, i, len(s.flat)-i*f.Width, f.Width)
		}
	}
	return s, nil
}

// Len returns the number of keys.
func (s Set) Len() int {
	if s.width == 0 {
		return 0
	}
	return len(s.flat) / s.width
}

// At returns the bytes of key i: of an integer, in big-endian order; of a text, the characters.
// Callers must not change the bytes.
func (s Set) At(i int) []byte { return s.flat[i*s.width : (i+1)*s.width : (i+1)*s.width] }

// FromInt64 returns a key that is an integer as the bytes of a Set.
func FromInt64(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// Int64 returns the value of a key that is an integer.
func Int64(key []byte) int64 { return int64(binary.BigEndian.Uint64(key)) }

// Collect returns a Set of the keys that a server has assigned.
func Collect(all []int64) Set {
	s := Set{width: 8}
	for _, v := range all {
		s.flat = binary.BigEndian.AppendUint64(s.flat, uint64(v))
	}
	return s
}

// Find returns the format with the name.
func Find(name string) (*Format, error) {
	var known []string
	for i := range Formats {
		if Formats[i].Name == name {
			return &Formats[i], nil
		}
		known = append(known, Formats[i].Name)
	}
	return nil, fmt.Errorf("format %q is unknown: use one of %s", name, strings.Join(known, ", "))
}

package main

import (
	"encoding/binary"
	"io"
	"slices"
	"time"

	"github.com/firn-id/firn/sno"
)

const (
	generators = 8
	perTick    = 1 << 16 // IDs of a generator in a tick
	perRun     = 4096    // IDs of a generator side by side
	duplicates = 3
)

// A plan is the lines of a file of IDs.
type plan struct {
	n        int64
	shuffled bool
}

// planted returns the lines that repeat the first line, the line in the middle, and the line just before.
func (p plan) planted() []int64 {
	lines := []int64{p.n / 3, p.n/3*2 + 1, p.n}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// original returns the place of the ID, from 0, that the n-th repeated line repeats.
func (p plan) original(n int) int64 {
	return []int64{0, p.n / 2, p.n - int64(duplicates) - 1}[n]
}

// write writes the IDs, a line each.
func (p plan) write(w io.Writer) error {
	const batch = 4096
	ids := make([]sno.ID, 0, batch)
	var text []byte
	made, planted := int64(0), p.planted()
	first := firstTick()
	order := newShuffle(p.n - int64(len(planted)))
	for line := int64(1); line <= p.n; line++ {
		place := made
		if again := slices.Index(planted, line); again >= 0 {
			place = p.original(again)
		} else {
			made++
		}
		if p.shuffled {
			place = order.at(place)
		}
		ids = append(ids, idAt(first, place))
		if len(ids) == batch || line == p.n {
			var err error
			if text, err = sno.AppendAll(text[:0], ids, '\n'); err != nil {
				return err
			}
			if _, err := w.Write(text); err != nil {
				return err
			}
			ids = ids[:0]
		}
	}
	return nil
}

// firstTick returns the tick that is an hour ago, for 10^9 IDs of the past.
func firstTick() uint64 {
	return uint64(time.Since(time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC))/sno.TimeUnit - time.Hour/sno.TimeUnit)
}

// idAt returns the ID of a place in the file without repeated lines. In each tick, the generators take turns, a
// run each.
func idAt(first uint64, place int64) (id sno.ID) {
	at := uint64(place)
	tick, in := at/(perTick*generators), at%(perTick*generators)
	turn, i := in/perRun, in%perRun
	generator, sequence := turn%generators, turn/generators*perRun+i
	binary.BigEndian.PutUint64(id[:], (first+tick)<<25|generator+1)
	binary.BigEndian.PutUint16(id[8:], uint16(sequence))
	return id
}

// A shuffle is a random order of the numbers below n, by a network of Feistel: it needs no memory.
type shuffle struct {
	n    int64
	half uint
}

func newShuffle(n int64) shuffle {
	s := shuffle{n: n, half: 1}
	for int64(1)<<(2*s.half) < n {
		s.half++
	}
	return s
}

// at returns the number at a place.
func (s shuffle) at(place int64) int64 {
	for v := uint64(place); ; {
		for round := range uint64(4) {
			low := v & (1<<s.half - 1)
			mixed := (low + round<<32 + 1) * 0x9e3779b97f4a7c15
			mixed ^= mixed >> 29
			mixed *= 0xbf58476d1ce4e5b9
			v = low<<s.half | (v>>s.half^mixed>>32)&(1<<s.half-1)
		}
		if int64(v) < s.n {
			return int64(v)
		}
	}
}

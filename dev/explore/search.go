package explore

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Report is the result of a search.
type Report struct {
	States      int // states, apart from the names of equal callers
	Transitions int
	Lost        int // transitions with a failed swap
	Again       int // transitions that ended a call with Outcome.Again
	Ends        int // states with all calls of all callers completed

	Violation string   // empty if there is none
	Trace     []string // a shortest path to the violation, one step a line
}

// state is a state of the model: the memory, as indices of values, and the local states of the
// callers. The local states of the callers of one program are in ascending order. States with only
// the names of callers exchanged are therefore equal.
type state struct {
	actors [maxActors]uint16
	memory [maxCells]uint8
	ghost  uint32
}

type search struct {
	model  *Model
	cells  *cells
	locals locals
	groups [][2]int // the actors of each program, from and to
	actors int

	values  []uint64 // all values of cells
	indices map[uint64]uint8

	seen   table
	parent []uint32 // index of the state before, for each state of seen
}

// Search visits every state that the callers can reach, breadth first, until it finds a violation.
// Each operation and each choice is a step.
func (m *Model) Search() Report {
	s := &search{model: m, cells: cellsOf(m), indices: make(map[uint64]uint8)}
	searched.Store(s.cells)
	defer s.end()
	s.locals = locals{programs: m.Programs, cells: s.cells, byKey: make(map[string]uint16)}
	var first state
	memory := m.setUp(s.cells)
	for i := range memory {
		first.memory[i] = s.value(memory[i])
	}
	for p, program := range m.Programs {
		from := s.actors
		for range program.Actors {
			first.actors[s.actors] = s.locals.begin(p, 0)
			s.actors++
		}
		s.groups = append(s.groups, [2]int{from, s.actors})
	}

	var r Report
	s.seen.add(first)
	s.parent = append(s.parent, 0)
	for at := 0; at < len(s.seen.states) && r.Violation == ""; at++ {
		from := s.seen.states[at]
		moves := 0
		s.moves(from, func(mv move) bool {
			moves++
			r.Transitions++
			if mv.edge.lost {
				r.Lost++
			}
			if mv.edge.again {
				r.Again++
			}
			if mv.violation != "" {
				r.Violation = mv.violation
				r.Trace = s.trace(at, mv)
				return false
			}
			if s.seen.add(s.canonical(mv.to)) {
				s.parent = append(s.parent, uint32(at))
			}
			return true
		})
		if moves == 0 {
			r.Ends++
		}
	}
	r.States = len(s.seen.states)
	return r
}

// end checks that no operation has got past the search.
func (s *search) end() {
	searched.Store(nil)
	for cell, i := range s.cells.index {
		if v := cell.Load(); v != 0 {
			panic(fmt.Sprintf("explore: %s itself has changed, to %d", s.cells.names[i], v))
		}
	}
}

// move is one step of one actor.
type move struct {
	actor     int
	result    uint64
	edge      *edge
	to        state // not yet canonical
	violation string
}

// moves calls yield with each step that is possible in from, until yield returns false.
func (s *search) moves(from state, yield func(move) bool) {
	for _, g := range s.groups {
		for i := g[0]; i < g[1]; i++ {
			if i > g[0] && from.actors[i] == from.actors[i-1] {
				continue // this caller can do only the same as the caller before
			}
			l := s.locals.all[from.actors[i]]
			if l.done {
				continue
			}
			if l.next.choice != "" {
				for _, v := range l.next.options {
					if !yield(s.move(from, i, l, v, from.memory)) {
						return
					}
				}
				continue
			}
			memory := from.memory
			after, result := l.next.On(s.values[memory[l.cell]])
			memory[l.cell] = s.value(after)
			if !yield(s.move(from, i, l, result, memory)) {
				return
			}
		}
	}
}

func (s *search) move(from state, actor int, l *local, result uint64, memory [maxCells]uint8) move {
	e := s.locals.step(from.actors[actor], result)
	mv := move{actor: actor, result: result, edge: e, to: from, violation: e.violation}
	mv.to.actors[actor] = e.to
	mv.to.memory = memory
	if s.model.Watch != nil && mv.violation == "" && (e.run > 0 || memory != from.memory) {
		ev := Event{Program: s.model.Programs[l.program].Name, First: e.first, Run: e.run}
		for c := range memory {
			ev.Old[c], ev.New[c] = s.values[from.memory[c]], s.values[memory[c]]
		}
		mv.to.ghost, mv.violation = s.model.Watch(from.ghost, ev)
	}
	return mv
}

func (s *search) canonical(st state) state {
	for _, g := range s.groups {
		a := st.actors[g[0]:g[1]]
		for i := 1; i < len(a); i++ { // insertion sort, of two or three callers
			for j := i; j > 0 && a[j] < a[j-1]; j-- {
				a[j], a[j-1] = a[j-1], a[j]
			}
		}
	}
	return st
}

// value returns the index of a value.
func (s *search) value(v uint64) uint8 {
	if i, ok := s.indices[v]; ok {
		return i
	}
	if len(s.values) > 255 {
		panic("explore: memory takes more than 256 values")
	}
	i := uint8(len(s.values))
	s.indices[v] = i
	s.values = append(s.values, v)
	return i
}

// trace writes the path from the first state to the state at, and the last move. The search knows
// the path as canonical states. trace walks the path again with callers that keep their names.
func (s *search) trace(at int, last move) []string {
	way := []state{s.canonical(last.to)}
	for i := at; i > 0; i = int(s.parent[i]) {
		way = append(way, s.seen.states[i])
	}
	var lines []string
	now := s.seen.states[0]
	for i := len(way) - 1; i >= 0; i-- {
		found := false
		s.moves(now, func(mv move) bool {
			found = s.canonical(mv.to) == way[i] && (i > 0 || mv.violation == last.violation)
			if found {
				lines = append(lines, s.line(now, mv))
				now = mv.to
			}
			return !found
		})
		if !found {
			panic("explore: the way to a state is lost")
		}
	}
	return lines
}

// line writes a move: the caller, the operation and the result.
func (s *search) line(from state, mv move) string {
	l := s.locals.all[from.actors[mv.actor]]
	var b strings.Builder
	fmt.Fprintf(&b, "%c  ", 'A'+mv.actor)
	if o := l.next; o.choice != "" {
		fmt.Fprintf(&b, "%s %d", o.choice, mv.result)
	} else {
		b.WriteString(o.write(s.cells.names[l.cell], mv.result))
	}
	write := s.model.Format
	if write == nil {
		write = func(w uint64) string { return strconv.FormatUint(w, 10) }
	}
	switch {
	case mv.edge.run == 1:
		b.WriteString("; issues " + write(mv.edge.first))
	case mv.edge.run > 1:
		b.WriteString("; issues " + write(mv.edge.first) + " to " + write(mv.edge.first+uint64(mv.edge.run)-1))
	case mv.edge.again:
		b.WriteString("; gets none")
	}
	return b.String()
}

// table is the set of states seen, in order: a hash table with open addressing. A map takes three
// times as long.
type table struct {
	states []state
	slots  []uint32 // index in states plus 1, or 0 if free; the length is a power of 2
}

// add adds st, and reports whether st is new.
func (t *table) add(st state) bool {
	if 2*len(t.states) >= len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := st.hash() & mask; ; i = (i + 1) & mask {
		switch at := t.slots[i]; {
		case at == 0:
			t.states = append(t.states, st)
			t.slots[i] = uint32(len(t.states))
			return true
		case t.states[at-1] == st:
			return false
		}
	}
}

func (t *table) grow() {
	t.slots = make([]uint32, max(1024, 4*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for at, st := range t.states {
		i := st.hash() & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(at + 1)
	}
}

func (st *state) hash() uint64 {
	h := uint64(st.ghost) ^ binary.LittleEndian.Uint64(st.memory[:])*0x9e3779b97f4a7c15
	for _, a := range st.actors {
		h = (h ^ uint64(a)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

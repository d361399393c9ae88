package explore

import (
	"encoding/binary"
	"fmt"

	"github.com/firn-id/firn/dev/explore/atomic"
)

// local is the state of one caller: the number of completed calls, and the steps of the present
// call. The next operation follows from the steps.
type local struct {
	program int
	made    int
	steps   []Step
	done    bool // all calls are completed; otherwise next is the next operation
	next    operation
	cell    int
	after   map[uint64]*edge // by the operation's result
}

// edge is the step of a caller with a certain result.
type edge struct {
	to        uint16
	first     uint64
	run       int
	lost      bool // a failed swap
	again     bool // the call is made again
	violation string
}

// locals holds every local state that the search has met, once.
type locals struct {
	programs []Program
	cells    cells
	byKey    map[string]uint16
	all      []*local
}

// begin returns the state of a caller after a number of completed calls.
func (ls *locals) begin(program, made int) uint16 { return ls.intern(program, made, nil) }

func (ls *locals) intern(program, made int, steps []Step) uint16 {
	key := []byte{byte(program), byte(made)}
	for _, s := range steps {
		key = binary.AppendUvarint(key, s.Result)
	}
	if i, ok := ls.byKey[string(key)]; ok {
		return i
	}
	l := &local{program: program, made: made, steps: steps, after: make(map[uint64]*edge)}
	if made == ls.programs[program].Calls {
		l.done = true
	} else if _, ended := ls.run(program, steps, &l.next); ended {
		panic("explore: " + ls.programs[program].Name + " makes a call that has no operation")
	}
	if l.next.choice == "" && !l.done {
		l.cell = ls.cell(l.next)
	}
	i := uint16(len(ls.all))
	if len(ls.all) >= 1<<16 {
		panic("explore: more than 65536 local states")
	}
	ls.all = append(ls.all, l)
	ls.byKey[string(key)] = i
	return i
}

func (ls *locals) cell(o operation) int {
	i, ok := ls.cells.index[o.Cell]
	if !ok {
		panic("explore: an operation on an atomic that is not in Shared")
	}
	return i
}

// pending is the panic value of an operation without a result.
type pending operation

// run makes a call, and gives the results of steps to its operations. Either the call ends, or run
// stores the first operation without a result in next.
func (ls *locals) run(program int, steps []Step, next *operation) (o Outcome, ended bool) {
	defer func() {
		if p := recover(); p != nil {
			op, ok := p.(pending)
			if !ok {
				panic(p)
			}
			*next = operation(op)
		}
	}()
	pos := 0
	setPerform(func(op operation) uint64 {
		if pos == len(steps) {
			panic(pending(op))
		}
		if !op.same(steps[pos].op) {
			panic(fmt.Sprintf("explore: %s does not do the same twice", ls.programs[program].Name))
		}
		pos++
		return steps[pos-1].Result
	})
	return ls.programs[program].Call(), true
}

// step returns the edge of a caller whose next operation has the result.
func (ls *locals) step(at uint16, result uint64) *edge {
	l := ls.all[at]
	if e := l.after[result]; e != nil {
		return e
	}
	e := ls.edge(l, result)
	l.after[result] = e
	return e
}

func (ls *locals) edge(l *local, result uint64) *edge {
	p := &ls.programs[l.program]
	s := Step{op: l.next, Result: result, Kind: l.next.Kind}
	if l.next.choice == "" {
		s.Cell = ls.cells.names[l.cell]
	}
	steps := append(l.steps[:len(l.steps):len(l.steps)], s)
	e := &edge{lost: s.Cell != "" && s.Kind == atomic.CompareAndSwap && result == 0}

	var next operation
	o, ended := ls.run(l.program, steps, &next)
	if ended {
		if p.Check != nil {
			e.violation = p.Check(steps, o)
		}
		made := l.made + 1
		if o.Again {
			made = l.made
		}
		e.first, e.run, e.again = o.First, o.Run, o.Again
		e.to = ls.begin(l.program, made)
		return e
	}
	if e.lost && p.Restarts {
		steps = ls.restart(l.program, steps, next)
	}
	e.to = ls.intern(l.program, l.made, steps)
	return e
}

// restart returns the steps of a call before the call first came to the operation next, or all steps
// if the call comes there for the first time.
func (ls *locals) restart(program int, steps []Step, next operation) []Step {
	for n := range steps {
		var before operation
		if ls.run(program, steps[:n], &before); before.same(next) {
			return steps[:n]
		}
	}
	return steps
}

package explore

import (
	"encoding/binary"
	"fmt"
)

// maxTwins bounds how many forgotten rounds are checked at each state: more take long, and show the same.
const maxTwins = 16

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
	twins   [][]Step         // other steps to this state, with rounds that the search has forgotten
}

// edge is the step of a caller with a certain result.
type edge struct {
	to        uint16
	first     uint64
	run       int
	lost      bool // a failed swap
	again     bool // the call is made again
	forgot    bool // a round is forgotten
	ended     bool // the call has ended
	violation string
}

// locals holds every local state that the search has met, once.
type locals struct {
	programs []Program
	cells    *cells
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
		l.cell = ls.cells.index[l.next.Cell]
	}
	i := uint16(len(ls.all))
	if len(ls.all) >= 1<<16 {
		panic("explore: more than 65536 local states")
	}
	ls.all = append(ls.all, l)
	ls.byKey[string(key)] = i
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
	perform = func(op operation) uint64 {
		if q := ls.cells.quiet[op.Cell]; q != nil {
			return q.perform(op.Op)
		}
		if pos == len(steps) {
			op.place = place()
			panic(pending(op))
		}
		if !op.same(steps[pos].op) {
			panic(fmt.Sprintf("explore: %s does not do the same twice", ls.programs[program].Name))
		}
		pos++
		return steps[pos-1].Result
	}
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
	for _, steps := range l.twins {
		ls.follow(l, steps, result, e)
	}
	return e
}

func (ls *locals) edge(l *local, result uint64) *edge {
	p := &ls.programs[l.program]
	s := Step{op: l.next, Result: result, Method: l.next.Method}
	if l.next.choice == "" {
		s.Cell = ls.cells.names[l.cell]
	}
	steps := append(l.steps[:len(l.steps):len(l.steps)], s)
	e := &edge{lost: s.Cell != "" && s.Method == "CompareAndSwap" && result == 0}

	var next operation
	var o Outcome
	if o, e.ended = ls.run(l.program, steps, &next); e.ended {
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
	kept := steps
	if p.Restarts {
		kept = ls.restart(l.program, steps, next)
	}
	e.to = ls.intern(l.program, l.made, kept)
	if e.forgot = len(kept) < len(steps); e.forgot && len(ls.all[e.to].twins) < maxTwins {
		ls.twin(e.to, steps)
	}
	return e
}

// restart returns the steps of a call before the call first came to the operation next at the same place,
// or all steps if the call comes there for the first time.
func (ls *locals) restart(program int, steps []Step, next operation) []Step {
	for n := range steps {
		var before operation
		if ls.run(program, steps[:n], &before); before.same(next) && before.place == next.place {
			return steps[:n]
		}
	}
	return steps
}

// twin notes other steps to a state, and checks that they lead to the same operations and results.
func (ls *locals) twin(at uint16, steps []Step) {
	l := ls.all[at]
	var next operation
	if _, ended := ls.run(l.program, steps, &next); ended || !next.same(l.next) {
		ls.keeps(l)
	}
	l.twins = append(l.twins, steps)
	for result, e := range l.after {
		ls.follow(l, steps, result, e)
	}
}

// follow checks a step of a caller that has come to a state by other steps.
func (ls *locals) follow(l *local, steps []Step, result uint64, e *edge) {
	steps = append(steps[:len(steps):len(steps)], Step{op: l.next, Result: result})
	if !e.ended && !e.forgot {
		ls.twin(e.to, steps)
		return
	}
	var next operation
	o, ended := ls.run(l.program, steps, &next)
	switch {
	case ended != e.ended:
	case ended && o == (Outcome{First: e.first, Run: e.run, Again: e.again}):
		return
	case e.forgot && next.same(ls.all[e.to].next):
		return
	}
	ls.keeps(l)
}

func (ls *locals) keeps(l *local) {
	panic("explore: " + ls.programs[l.program].Name + " keeps something from round to round, and must not set Restarts")
}

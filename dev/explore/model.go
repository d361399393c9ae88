package explore

import (
	"fmt"
	"reflect"

	"github.com/firn-id/firn/dev/explore/atomic"
)

const (
	maxActors = 5
	maxCells  = 8
)

// Model is code to explore: the memory of its callers, their programs and the promises to check.
type Model struct {
	// Shared points to the struct that holds the atomics. The search keeps the values; the struct
	// itself never changes.
	Shared any
	// Setup, if any, runs alone before the callers start.
	Setup    func()
	Programs []Program
	// Watch, if any, is called at each step that writes or issues words. Watch keeps the ghost, a
	// value for Watch alone, from step to step. It returns the violation, if any, in words.
	Watch func(ghost uint32, e Event) (uint32, string)
	// Format writes an issued word in a trace; nil means decimal.
	Format func(word uint64) string
}

// Program is the work of a number of equal callers. Call runs on the simulated atomics. The only
// inputs of Call are the results of operations on Shared and of Choose. Call must read nothing
// else.
type Program struct {
	Name   string
	Actors int // number of callers
	Calls  int // number of calls for each caller to complete
	Call   func() Outcome
	// Restarts says that a call starts its loop again after a lost swap, with nothing kept from the
	// round before. The search then forgets the results of the round, and visits far fewer states.
	// If the call has not come to the next operation before, the search forgets nothing. The author
	// of the Program must ensure that a call that has come there keeps nothing else.
	Restarts bool
	// Check, if any, checks a call by its own steps. It returns the violation, if any, in words.
	Check func(steps []Step, o Outcome) string
}

// Outcome is the result of a call: the words issued, if any. If Again is true, the call does not
// count and the caller repeats the call.
type Outcome struct {
	First uint64
	Run   int // number of words from First on; 0 for none
	Again bool
}

// Event is a step, for Watch: the memory before and after, by cell in the order of the struct. If
// the step ended a call, First and Run are the words issued by the call. A call ends with its last
// operation, since other callers see nothing later.
type Event struct {
	Program  string
	Old, New [maxCells]uint64
	First    uint64
	Run      int
}

// Step is an operation of a call with its result.
type Step struct {
	op     operation
	Cell   string // empty for a choice
	Kind   atomic.Kind
	Result uint64
}

// operation is an operation on memory or, with options, a choice.
type operation struct {
	atomic.Op
	choice  string
	options []uint64
}

// Choose returns one of the options. The search tries all options. Choose stands for readings of
// anything other than shared memory, such as the clock.
func Choose(what string, options ...uint64) uint64 {
	return perform(operation{choice: what, options: options})
}

var perform func(operation) uint64 // as atomic.Perform, choices included

func setPerform(f func(operation) uint64) {
	perform = f
	atomic.Perform = func(op atomic.Op) uint64 { return f(operation{Op: op}) }
}

func (o operation) same(p operation) bool {
	return o.Op == p.Op && o.choice == p.choice && len(o.options) == len(p.options)
}

// cells are the atomics of a struct, and of the structs and arrays in it, in order.
type cells struct {
	index map[*atomic.Uint64]int
	names []string
}

func cellsOf(shared any) cells {
	c := cells{index: make(map[*atomic.Uint64]int)}
	c.add("", reflect.ValueOf(shared).Elem())
	if len(c.names) == 0 || len(c.names) > maxCells {
		panic(fmt.Sprintf("explore: %T has %d atomics, not 1 to %d", shared, len(c.names), maxCells))
	}
	return c
}

// add adds the atomics of v, which has the name.
func (c *cells) add(name string, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[atomic.Uint64]():
		c.index[(*atomic.Uint64)(v.Addr().UnsafePointer())] = len(c.names)
		c.names = append(c.names, name)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case f.Anonymous:
				c.add(name, v.Field(i))
			case name == "":
				c.add(f.Name, v.Field(i))
			default:
				c.add(name+"."+f.Name, v.Field(i))
			}
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			c.add(fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	}
}

// setUp returns the memory at the start of the callers.
func (m *Model) setUp(c cells) (memory [maxCells]uint64) {
	if m.Setup == nil {
		return memory
	}
	setPerform(func(o operation) (result uint64) {
		cell := c.index[o.Cell]
		memory[cell], result = o.On(memory[cell])
		return result
	})
	m.Setup()
	return memory
}

package explore

import (
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
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
	// Cells names the atomics of Shared that are the memory; empty means all. A caller may also change an
	// atomic that is not among them and that no caller reads, or read one that no caller changes. The search
	// checks this, and such an operation is no step, since it makes no difference when it happens.
	Cells []string
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
	// Restarts says that the loops of a call keep nothing from one round to the next. If a call comes to an
	// operation at a place where it has come to the same operation before, the search forgets the results in
	// between, and visits far fewer states. At each such state the search checks for some rounds that a
	// caller with their results does the same as a caller without them.
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
	Method string
	Result uint64
}

// operation is an operation on memory or, with options, a choice.
type operation struct {
	Op
	choice  string
	options []uint64
	place   string // of the first operation without a result
}

// Choose returns one of the options. The search tries all options. Choose stands for readings of
// anything other than shared memory, such as the clock.
func Choose(what string, options ...uint64) uint64 {
	return perform(operation{choice: what, options: options})
}

// perform returns the result of an operation. The search sets it, and runs a single piece of code at a
// time. It is global, since the explored code has no argument for it.
var perform func(operation) uint64

func (o operation) same(p operation) bool {
	return o.Op == p.Op && o.choice == p.choice && len(o.options) == len(p.options)
}

// cells are the atomics of a struct, and of the structs and arrays in it, in order.
type cells struct {
	index map[*atomic.Uint64]int
	names []string
	quiet map[*atomic.Uint64]*quiet
}

// A quiet atomic is no part of the memory: the callers either only read it or only change it.
type quiet struct {
	name          string
	value         uint64
	read, changed bool
}

func cellsOf(m *Model) *cells {
	c := &cells{index: make(map[*atomic.Uint64]int), quiet: make(map[*atomic.Uint64]*quiet)}
	c.add(m.Cells, "", reflect.ValueOf(m.Shared).Elem())
	if n := len(c.names); n == 0 || n > maxCells || len(m.Cells) > 0 && n != len(m.Cells) {
		panic(fmt.Sprintf("explore: %T has the cells %q, not 1 to %d", m.Shared, c.names, maxCells))
	}
	return c
}

// add adds the atomics of v, which has the name.
func (c *cells) add(memory []string, name string, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[atomic.Uint64]():
		cell := (*atomic.Uint64)(v.Addr().UnsafePointer())
		if len(memory) > 0 && !slices.Contains(memory, name) {
			c.quiet[cell] = &quiet{name: name}
			return
		}
		c.index[cell] = len(c.names)
		c.names = append(c.names, name)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch {
			case f.Anonymous:
				c.add(memory, name, v.Field(i))
			case name == "":
				c.add(memory, f.Name, v.Field(i))
			default:
				c.add(memory, name+"."+f.Name, v.Field(i))
			}
		}
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			c.add(memory, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	}
}

func (c *cells) has(cell *atomic.Uint64) bool {
	_, ok := c.index[cell]
	return ok || c.quiet[cell] != nil
}

// perform returns the result of a caller's operation on a quiet atomic.
func (q *quiet) perform(o Op) uint64 {
	after, result := o.On(q.value)
	q.read = q.read || o.Method != "Store"
	q.changed = q.changed || o.Method == "Store" || after != q.value
	if q.read && q.changed {
		panic("explore: callers read and change " + q.name + ", which must be among Model.Cells")
	}
	return result
}

// setUp returns the memory at the start of the callers.
func (m *Model) setUp(c *cells) (memory [maxCells]uint64) {
	if m.Setup == nil {
		return memory
	}
	perform = func(o operation) (result uint64) {
		if o.choice != "" {
			panic("explore: Setup has no choice")
		}
		value := &memory[c.index[o.Cell]]
		if q := c.quiet[o.Cell]; q != nil {
			value = &q.value
		}
		*value, result = o.On(*value)
		return result
	}
	m.Setup()
	return memory
}

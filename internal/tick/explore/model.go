package explore

import (
	"fmt"
	"reflect"

	"github.com/firn-id/firn/internal/tick/explore/atomic"
)

const (
	maxActors = 5
	maxCells  = 2
)

// Model is code to explore: what its callers share, what they do and what must hold.
type Model struct {
	// Shared points to the struct that holds the atomics. The search keeps their values; the struct
	// itself never changes.
	Shared any
	// Setup, if any, runs alone before the callers start.
	Setup    func()
	Programs []Program
	// Watch, if any, is called at each step that writes or issues. It carries the ghost, a value of
	// its own, from step to step, and says what is violated.
	Watch func(ghost uint32, e Event) (uint32, string)
	// Format writes an issued word in a trace; nil for decimal.
	Format func(word uint64) string
}

// Program is what some alike callers do. Call runs against the simulated atomics; it must be a
// function of the results of its operations, and so must make its Shared calls and Choose, and read
// nothing else that changes.
type Program struct {
	Name   string
	Actors int // callers that run it
	Calls  int // calls that each completes
	Call   func() Outcome
	// Restarts says that a call that has lost a swap goes on as it did when it first came to the
	// operation that it now does next: at the start of its loop. The search then forgets what the
	// call has seen since, which keeps the states few. The search checks that the call has come to
	// that operation before; that the memory of the call is the same, is for the caller to know.
	Restarts bool
	// Check, if any, judges a call by its own steps: what is violated.
	Check func(steps []Step, o Outcome) string
}

// Outcome is what became of a call: words issued, if any, or that it does not count and is made
// again.
type Outcome struct {
	First uint64
	Run   int // number of words from First on; 0 for none
	Again bool
}

// Event is a step as Watch sees it: memory before and after, by cell in the order of the struct,
// and the words that the step issued, if it ended a call that did. A call ends with its last
// operation: nothing that others can see comes after.
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

// operation is one on memory or, with options, a choice.
type operation struct {
	atomic.Op
	choice  string
	options []uint64
}

// Choose returns one of the options: the search tries all. It stands for what a caller reads that
// is not shared memory.
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

// cells are the atomics of a struct and of the structs that it embeds, in order.
type cells struct {
	index map[*atomic.Uint64]int
	names []string
}

func cellsOf(shared any) cells {
	c := cells{index: make(map[*atomic.Uint64]int)}
	v := reflect.ValueOf(shared).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Type == reflect.TypeFor[atomic.Uint64]() {
			c.index[(*atomic.Uint64)(v.FieldByIndex(f.Index).Addr().UnsafePointer())] = len(c.names)
			c.names = append(c.names, f.Name)
		}
	}
	if len(c.names) == 0 || len(c.names) > maxCells {
		panic(fmt.Sprintf("explore: %T has %d atomics, not 1 to %d", shared, len(c.names), maxCells))
	}
	return c
}

// setUp returns the memory that the callers start with.
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

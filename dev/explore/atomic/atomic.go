// Package atomic replaces sync/atomic in explored code. Its values hold nothing: each operation
// calls Perform, and the search keeps the memory and returns the result.
package atomic

import "fmt"

// Kind is the kind of an operation.
type Kind uint8

const (
	Load Kind = iota
	Store
	CompareAndSwap
	Add
)

// Op is an operation on a cell.
type Op struct {
	Kind Kind
	Cell *Uint64
	A, B uint64 // the operands, if the kind has operands
}

// Perform returns the result of an operation: the value of a load, the sum of an addition, 1 or 0
// for a successful or failed swap. The search sets Perform, and runs a single piece of code at a
// time. Perform is global, since the explored code has no argument for Perform.
var Perform func(Op) uint64

// Uint64 has the methods of sync/atomic.Uint64 that the explored code calls.
type Uint64 struct {
	_ uint64 // so that values have different addresses
}

func (c *Uint64) Load() uint64   { return Perform(Op{Kind: Load, Cell: c}) }
func (c *Uint64) Store(v uint64) { Perform(Op{Kind: Store, Cell: c, A: v}) }
func (c *Uint64) CompareAndSwap(old, next uint64) bool {
	return Perform(Op{Kind: CompareAndSwap, Cell: c, A: old, B: next}) == 1
}
func (c *Uint64) Add(delta uint64) uint64 { return Perform(Op{Kind: Add, Cell: c, A: delta}) }

// On returns the value after o of a cell that holds v, and the result of o.
func (o Op) On(v uint64) (after, result uint64) {
	switch o.Kind {
	case Load:
		return v, v
	case Store:
		return o.A, 0
	case CompareAndSwap:
		if v == o.A {
			return o.B, 1
		}
		return v, 0
	case Add:
		return v + o.A, v + o.A
	}
	panic(fmt.Sprintf("atomic: kind %d", o.Kind))
}

package atomic

// The explorer adds this file to the package sync/atomic, whose methods of Uint64 it renames: Load is
// realLoad, and so on.

var simulate func(x *Uint64, method string, a, b uint64) (result uint64, ok bool)

// Simulate asks f for the result of each call of a method from then on. If f returns false, the call has
// its usual result. Call Simulate once, before other goroutines start.
func (*Uint64) Simulate(f func(x *Uint64, method string, a, b uint64) (result uint64, ok bool)) {
	simulate = f
}

func (x *Uint64) ask(method string, a, b uint64) (result uint64, ok bool) {
	if simulate == nil {
		return 0, false
	}
	return simulate(x, method, a, b)
}

func (x *Uint64) Load() uint64 {
	if v, ok := x.ask("Load", 0, 0); ok {
		return v
	}
	return x.realLoad()
}

func (x *Uint64) Store(v uint64) {
	if _, ok := x.ask("Store", v, 0); !ok {
		x.realStore(v)
	}
}

func (x *Uint64) Swap(v uint64) uint64 {
	if v, ok := x.ask("Swap", v, 0); ok {
		return v
	}
	return x.realSwap(v)
}

func (x *Uint64) CompareAndSwap(old, v uint64) bool {
	if swapped, ok := x.ask("CompareAndSwap", old, v); ok {
		return swapped == 1
	}
	return x.realCompareAndSwap(old, v)
}

func (x *Uint64) Add(delta uint64) uint64 {
	if v, ok := x.ask("Add", delta, 0); ok {
		return v
	}
	return x.realAdd(delta)
}

func (x *Uint64) And(mask uint64) uint64 {
	if v, ok := x.ask("And", mask, 0); ok {
		return v
	}
	return x.realAnd(mask)
}

func (x *Uint64) Or(mask uint64) uint64 {
	if v, ok := x.ask("Or", mask, 0); ok {
		return v
	}
	return x.realOr(mask)
}

package explore

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
)

//go:embed testdata/uint64.go
var uint64s []byte

// simulator is a type that atomic.Uint64 has only in a program that was built with the overlay.
type simulator interface {
	Simulate(f func(x *atomic.Uint64, method string, a, b uint64) (result uint64, ok bool))
}

// simulate lets the search have the operations on the atomics of a model. It returns false if the program
// was built without the overlay.
func simulate() bool {
	s, ok := any(new(atomic.Uint64)).(simulator)
	if ok {
		s.Simulate(func(x *atomic.Uint64, method string, a, b uint64) (uint64, bool) {
			if c := searched.Load(); c == nil || !c.has(x) {
				return 0, false // an atomic of some other package
			}
			return perform(operation{Op: Op{Method: method, Cell: x, A: a, B: b}}), true
		})
	}
	return ok
}

// searched has the cells of the model of the running search. Operations on other atomics are as usual.
var searched atomic.Pointer[cells]

// overlay writes an overlay to a folder, for the go command: the package sync/atomic with Simulate.
func overlay(dir string) (name string, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	std := filepath.Join(strings.TrimSpace(string(root)), "src", "sync", "atomic")
	types, err := os.ReadFile(filepath.Join(std, "type.go"))
	if err != nil {
		return "", err
	}
	types = bytes.ReplaceAll(types, []byte("\nfunc (x *Uint64) "), []byte("\nfunc (x *Uint64) real"))
	replace := make(map[string]string)
	for name, text := range map[string][]byte{"type.go": types, "simulate.go": uint64s} {
		replace[filepath.Join(std, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name = filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o666)
}

// Op is a call of a method of an atomic.
type Op struct {
	Method string
	Cell   *atomic.Uint64
	A, B   uint64 // the arguments, if the method has any
}

// On returns the value after o of an atomic that has the value v, and the result of o: 1 or 0 for a
// successful or failed swap.
func (o Op) On(v uint64) (after, result uint64) {
	switch o.Method {
	case "Load":
		return v, v
	case "Store":
		return o.A, 0
	case "CompareAndSwap":
		if v == o.A {
			return o.B, 1
		}
		return v, 0
	case "Add":
		return v + o.A, v + o.A
	}
	panic("explore: no rule for the method " + o.Method)
}

// write returns o on the cell of a name, and its result.
func (o Op) write(name string, result uint64) string {
	switch o.Method {
	case "Store":
		return fmt.Sprintf("%s.Store(%d)", name, o.A)
	case "CompareAndSwap":
		return fmt.Sprintf("%s.CompareAndSwap(%d, %d) = %t", name, o.A, o.B, result == 1)
	case "Add":
		return fmt.Sprintf("%s.Add(%d) = %d", name, o.A, result)
	}
	return fmt.Sprintf("%s.%s() = %d", name, o.Method, result)
}

// place returns where the running call is: the calls from Program.Call to the operation.
func place() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	var b []byte
	for {
		frame, more := frames.Next()
		if strings.HasSuffix(frame.Function, ".(*locals).run") {
			return string(b)
		}
		if !more {
			panic("explore: an operation outside of a call")
		}
		b = append(strconv.AppendUint(b, uint64(frame.PC), 16), ' ')
	}
}

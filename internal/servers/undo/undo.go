// Package undo removes what tests leave on the machine: databases on its servers, and processes.
//
// A test removes what it made when it ends. A test that is killed, or panics, or runs out of time,
// removes nothing. Whatever a test makes outside of its process is therefore announced to a second
// process first, the keeper. The keeper reads a pipe that ends with the process of the test, however
// that ends, and then undoes what the test has not undone. A signal from the terminal does not reach
// the keeper, and the go command waits for it.
package undo

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"
)

// limit bounds an undoing.
const limit = 30 * time.Second

// An Action undoes a change of one kind. Methods are safe for concurrent use.
type Action struct {
	name string
	do   func(ctx context.Context, what string) error

	mu     sync.Mutex
	keeper *keeper // nil before the first use
}

// New returns an action, and must be called to initialize a variable of a package: the keeper is the
// program of the test, started again, and takes over in this call. So do must use no variable that
// an init function sets. The name must be unique in the program. The function do undoes one change,
// and returns nil if there was no such change.
func New(name string, do func(ctx context.Context, what string) error) *Action {
	takeOver(name, do)
	return &Action{name: name, do: do}
}

// AtEnd announces a change that the test is about to make. The change is undone when the test ends,
// or when its process does.
func (a *Action) AtEnd(t testing.TB, what string) {
	t.Helper()
	quoted := strconv.Quote(what)
	if err := a.tell("+" + quoted); err != nil {
		t.Fatalf("the keeper of %s: %v", a.name, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := a.do(ctx, what); err != nil {
			t.Errorf("undoing %s %s: %v", a.name, what, err)
			return
		}
		if err := a.tell("-" + quoted); err != nil {
			t.Errorf("the keeper of %s: %v", a.name, err)
		}
	})
}

// tell writes a line to the keeper, and starts the keeper before the first line.
func (a *Action) tell(line string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keeper == nil {
		k, err := startKeeper(a.name)
		if err != nil {
			return err
		}
		a.keeper = k
	}
	return a.keeper.tell(line)
}

// Package undo removes what tests leave on the machine: databases on its servers, and processes.
//
// A test that ends removes everything by its cleanups. A test that is killed, panics or runs out of
// time removes nothing. A test therefore announces each change of the machine to a second process, the
// keeper, before the change. The keeper reads a pipe. The pipe ends with the process of the test, and
// the keeper then undoes all changes that the test has not undone. Signals of the terminal do not reach
// the keeper, and the go command waits for the end of the keeper.
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

// New returns an action. The function do undoes one change, and returns nil if there was no such
// change. The name must be unique in the program.
//
// Call New to initialize a variable of a package. The keeper is the program of the test, started again,
// and New does not return in the keeper. No init function has run then, so do must not need any.
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

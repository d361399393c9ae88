// Package undo removes what tests make on servers: databases, schemas, keys, streams.
package undo

import (
	"context"
	"testing"
	"time"
)

// limit bounds an undoing.
const limit = 30 * time.Second

// An Action undoes a change of one kind.
type Action struct {
	name string
	do   func(ctx context.Context, what string) error
}

// New returns an action. The function do undoes one change, and returns nil if there was no such
// change.
func New(name string, do func(ctx context.Context, what string) error) *Action {
	return &Action{name, do}
}

// AtEnd undoes a change when the test ends.
func (a *Action) AtEnd(t testing.TB, what string) {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		if err := a.do(ctx, what); err != nil {
			t.Errorf("undoing %s %s: %v", a.name, what, err)
		}
	})
}

package driver

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// An Opener opens the store of an address.
type Opener func(ctx context.Context, address string) (Store, error)

var openers struct {
	mu       sync.RWMutex
	byScheme map[string]Opener
}

// Register lets lease.OpenStore open the stores of a package by addresses that begin with the
// scheme and "://". The scheme is in lower case. The package of a store calls Register in an init
// function. Register panics if the scheme is registered.
func Register[S Store](scheme string, open func(ctx context.Context, address string) (S, error)) {
	openers.mu.Lock()
	defer openers.mu.Unlock()
	if openers.byScheme[scheme] != nil {
		panic("driver: Register: " + scheme + ":// is registered twice")
	}
	if openers.byScheme == nil {
		openers.byScheme = make(map[string]Opener)
	}
	openers.byScheme[scheme] = func(ctx context.Context, address string) (Store, error) {
		s, err := open(ctx, address)
		if err != nil {
			return nil, err // a nil S in an interface would not be nil
		}
		return s, nil
	}
}

// Registered returns the Opener of a scheme. ok reports whether the scheme is registered.
func Registered(scheme string) (open Opener, ok bool) {
	openers.mu.RLock()
	defer openers.mu.RUnlock()
	open, ok = openers.byScheme[scheme]
	return open, ok
}

// Schemes returns the registered schemes, sorted.
func Schemes() []string {
	openers.mu.RLock()
	defer openers.mu.RUnlock()
	return slices.Sorted(maps.Keys(openers.byScheme))
}

package process

import (
	"context"
	"errors"
	"testing"
)

// Servers are the servers of a store, as a test uses them.
type Servers interface {
	Close()
	Logs() string // the last lines of the logs
}

// ErrPort reports that another process has taken a chosen port. Servers log the same words.
var ErrPort = errors.New("address already in use")

// Again starts servers, up to three times while start returns [ErrPort].
func Again[S any](start func() (S, error)) (S, error) {
	for try := 1; ; try++ {
		s, err := start()
		if err == nil || !errors.Is(err, ErrPort) || try == 3 {
			return s, err
		}
	}
}

// ForTest starts servers, and closes the servers at the end of the test. A test that fails logs the
// last lines of the servers' logs.
func ForTest[S Servers](t testing.TB, start func(context.Context) (S, error)) S {
	t.Helper()
	s, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.Logs())
		}
		s.Close()
	})
	return s
}

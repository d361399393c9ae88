package process

import (
	"context"
	"errors"
	"testing"
)

// Servers are the servers of a store, as a test uses them.
type Servers interface {
	Close()
	Logs() string // what the servers logged last
}

// ErrPort reports that another process has taken a port that was chosen. Servers log the same words.
var ErrPort = errors.New("address already in use")

// Again starts servers up to three times, as long as another process takes a port of theirs.
func Again[S any](start func() (S, error)) (S, error) {
	for try := 1; ; try++ {
		s, err := start()
		if err == nil || !errors.Is(err, ErrPort) || try == 3 {
			return s, err
		}
	}
}

// ForTest starts servers, and closes them at the end of the test. If the test fails, it logs what the
// servers logged last.
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

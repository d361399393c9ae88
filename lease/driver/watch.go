package driver

import (
	"context"
	"time"
)

// The pauses between two watches, which double while watches end at once.
const shortestWatch, longestWatch = 10 * time.Millisecond, time.Second

// Watch is the method of a [Watcher] with a handle. Start starts a watch of the database that lives until ctx ends. It
// must answer before limit ends, which is the end of a call. It returns a function that follows the watch until the watch
// has ended, and calls changed after each change.
//
// When a watch has ended, Watch starts the next one, for as long as that takes. The channel then gets a value: changes may
// have been missed.
func Watch(ctx context.Context, h *Handle, start func(ctx, limit context.Context) (follow func(changed func()), err error)) (<-chan struct{}, error) {
	running, stop := UntilClosed(ctx, h)
	begin := func() (follow func(func()), err error) {
		return Call(running, h, "watch", func(limit context.Context) (func(func()), error) { return start(running, limit) })
	}
	follow, err := begin()
	if err != nil {
		stop()
		return nil, err
	}
	signals := make(chan struct{}, 1)
	changed := func() {
		select {
		case signals <- struct{}{}:
		default: // a value is waiting there
		}
	}
	go func() {
		defer close(signals)
		defer stop()
		for wait := shortestWatch; ; wait = min(2*wait, longestWatch) {
			if err == nil {
				began := time.Now()
				if follow(changed); time.Since(began) > longestWatch {
					wait = shortestWatch
				}
			}
			select {
			case <-time.After(wait):
			case <-running.Done():
				return
			}
			if follow, err = begin(); err == nil {
				changed()
			}
		}
	}()
	return signals, nil
}

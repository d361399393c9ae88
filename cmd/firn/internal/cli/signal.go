package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// Interrupted is the end by a signal.
type Interrupted struct{ Signal os.Signal }

func (i Interrupted) Error() string { return i.Signal.String() }

// raise ends the process by the signal, so that a shell sees that it was one.
func (i Interrupted) raise() {
	signal.Reset(i.Signal)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(i.Signal) == nil {
		time.Sleep(time.Second) // it arrives at once, on some thread
	}
	os.Exit(ExitFailed) // where a process cannot send itself signals
}

// grace is how long output may take to come to the end of a line after a signal.
const grace = 500 * time.Millisecond

// UntilSignal returns a context that SIGINT or SIGTERM ends, with an interrupted as its
// cause. Bulk output looks at it between writes, so that its last line is whole: the
// beginning of an ID can be a valid ID too. A reader who does not read can hold a write
// up, so after a while, or by a second signal, the process ends all the same; after a while,
// what remains to be done is done.
func UntilSignal(parent context.Context, remains *last) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(sig) { // as shells do for jobs in the background
			signal.Notify(signals, sig)
		}
	}
	go func() {
		select {
		case sig := <-signals:
			signal.Stop(signals)
			cancel(Interrupted{sig})
			time.Sleep(grace)
			remains.do()
			Interrupted{sig}.raise()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// A last is what remains to be done before a process ends that cannot return from what it is
// about. The zero last is nothing.
type last struct {
	mu sync.Mutex
	f  func()
}

// Set makes f what remains; nil is nothing. f may be called from any goroutine.
func (l *last) Set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f = f
}

func (l *last) do() {
	l.mu.Lock()
	f := l.f
	l.mu.Unlock()
	if f != nil {
		f()
	}
}

// An output is stdout. A write to a pipe that nobody reads any more ends the process, unless
// holdPipe is in force; then what remains is done, and it does so the second time.
type output struct {
	file    *os.File
	remains *last
}

func (o output) Write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.remains.do()
		var more int
		more, err = o.file.Write(p[n:])
		n += more
	}
	return n, err
}

// HoldPipe keeps writes to closed pipes from ending the process, until release is called.
func HoldPipe() (release func()) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}

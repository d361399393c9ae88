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

// Interrupted is the error of a command ended by a signal.
type Interrupted struct{ Signal os.Signal }

func (i Interrupted) Error() string { return i.Signal.String() }

// raise ends the process by the signal, for the shell to see.
func (i Interrupted) raise() {
	signal.Reset(i.Signal)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(i.Signal) == nil {
		time.Sleep(time.Second) // the signal arrives at once, on some thread
	}
	os.Exit(ExitFailed) // where a process cannot send itself signals
}

// grace is how long output may take to end its line after a signal.
const grace = 500 * time.Millisecond

// UntilSignal returns a context that SIGINT or SIGTERM ends, with an Interrupted as the cause.
//
// Bulk output checks the context between writes, to end with a whole line: the beginning of an ID
// can be a valid ID too. A reader that stops reading can block a write. After a grace period the
// process therefore runs the cleanup and ends; a second signal ends the process at once.
func UntilSignal(parent context.Context, remains *cleanup) (ctx context.Context, stop func()) {
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

// A cleanup runs before an early end of the process. The zero cleanup does nothing.
type cleanup struct {
	mu sync.Mutex
	f  func()
}

// Set makes f the cleanup; nil does nothing. f may be called from any goroutine.
func (l *cleanup) Set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f = f
}

func (l *cleanup) do() {
	l.mu.Lock()
	f := l.f
	l.mu.Unlock()
	if f != nil {
		f()
	}
}

// An output is stdout. A write to a pipe without a reader ends the process, unless HoldPipe is in
// force. With HoldPipe, the output runs the cleanup, which releases the pipe, and writes again: the
// second write ends the process.
type output struct {
	file    *os.File
	remains *cleanup
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

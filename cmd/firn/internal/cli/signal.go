package cli

import (
	"context"
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

// endings are the signals that end a command.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// notify makes the endings arrive in the channel, apart from signals that the process ignores. Shells
// ignore signals for jobs in the background.
func notify(signals chan os.Signal) {
	for _, sig := range endings {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
}

// Guard ends the process by SIGINT, SIGTERM and SIGHUP after a whole line of stdout, and runs the
// cleanup before. stop ends the guard. Guard is for commands that do not watch for signals; a command that
// does calls [UntilSignal], or Take of the cleanup.
func (s *Streams) Guard() (stop func()) {
	signals := make(chan os.Signal, 1)
	ended := make(chan struct{})
	s.Cleanup.guard(signals)
	go func() {
		select {
		case sig := <-signals:
			s.Cleanup.end(sig)
		case <-ended:
		}
	}()
	return func() {
		signal.Stop(signals)
		close(ended)
	}
}

// UntilSignal returns a context that SIGINT, SIGTERM or SIGHUP ends, with an Interrupted as the cause.
//
// Bulk output checks the context between writes, to end with a whole line: the beginning of an ID
// can be a valid ID too. A reader that stops reading can block a write. After a grace period the
// process therefore runs the cleanup and ends; a second signal ends the process at once.
func UntilSignal(parent context.Context, remains *cleanup) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	notify(signals)
	release := remains.Take()
	go func() {
		select {
		case sig := <-signals:
			signal.Stop(signals)
			cancel(Interrupted{sig})
			time.Sleep(grace)
			remains.end(sig)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		release()
	}
}

// A cleanup runs before an early end of the process. The zero cleanup does nothing.
type cleanup struct {
	mu     sync.Mutex
	f      func()
	guards chan os.Signal // of a Guard that is on; nil without one
	stdout *output        // nil if nothing is written
}

// Set makes f the cleanup; nil does nothing. f may be called from any goroutine.
func (l *cleanup) Set(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.f = f
}

// guard sets the channel of a guard, and makes signals arrive there.
func (l *cleanup) guard(signals chan os.Signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.guards = signals
	notify(signals)
}

// Take keeps the guard from ending the process, until release is called. The caller watches for
// signals itself.
func (l *cleanup) Take() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	signals := l.guards
	if signals == nil {
		return func() {}
	}
	l.guards = nil
	signal.Stop(signals)
	return func() { l.guard(signals) }
}

func (l *cleanup) do() {
	l.mu.Lock()
	f := l.f
	l.mu.Unlock()
	if f != nil {
		f()
	}
}

// end runs the cleanup, and ends the process by the signal. A write that has begun may end first: end
// waits for the write, about the grace period. What counts is how often end has looked, not the time: on a machine that
// is busy or stands still, the reader of the write makes no progress either.
func (l *cleanup) end(sig os.Signal) {
	l.do()
	if l.stdout != nil {
		const pause = time.Millisecond
		for looks := 0; !l.stdout.mu.TryLock() && looks < int(grace/pause); looks++ {
			time.Sleep(pause)
		}
	}
	Interrupted{sig}.raise()
}

// HoldPipe keeps writes to closed pipes from ending the process, until release is called.
func HoldPipe() (release func()) {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return func() { signal.Reset(syscall.SIGPIPE) }
}

//go:build unix

package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// notifySuccessor sends the signal that asks for a successor.
func notifySuccessor(c chan<- os.Signal) { signal.Notify(c, syscall.SIGUSR2) }

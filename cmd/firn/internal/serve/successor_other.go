//go:build !unix

package serve

import "os"

// notifySuccessor does nothing: the system has no such signal.
func notifySuccessor(chan<- os.Signal) {}

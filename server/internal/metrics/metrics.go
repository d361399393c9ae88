// Package metrics counts what a server does.
package metrics

import (
	"time"

	"github.com/firn-id/firn/server/internal/reason"
)

// Calls counts the answers of one protocol. A nil Calls counts nothing. Calls is safe for concurrent use.
type Calls struct{}

// Answered counts n answers, of which the slowest took some time.
func (c *Calls) Answered(n int, took time.Duration) {}

// Refused counts an answer that is no ID.
func (c *Calls) Refused(r *reason.Reason) {}

// Opened and Closed count connections.
func (c *Calls) Opened() {}
func (c *Calls) Closed() {}

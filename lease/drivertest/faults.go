package drivertest

import (
	"math/rand/v2"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease/driver"
)

// A Faulty is the connection of one process to a store, with faults: it loses, delays and repeats calls.
// All errors of a Faulty are [driver.ErrUnavailable]. Its method Counts returns the number of faults until
// now, so a test can check that faults happened at all; Deliver delivers the late Puts at once.
type Faulty = faults.Store

// Chances holds the probability of each fault, from 0 to 1: LoseRequest, LoseReply, Late, Repeat and Delay.
// A call has at most one of the first four, whose sum is at most 1. Delays come in addition.
type Chances = faults.Chances

// Counts holds the number of faults until now.
type Counts = faults.Counts

// NewFaulty returns a connection to a store. Used from one goroutine, it repeats its faults for the same
// calls and random numbers. Nothing else may use random meanwhile. Give [History] a Faulty for each
// handle, and the history checks that a process with bad luck harms nobody.
func NewFaulty(store driver.Store, random *rand.Rand, chances Chances) *Faulty {
	return faults.New(store, random, chances)
}

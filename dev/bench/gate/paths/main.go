// Command paths runs one of Firn's hot paths for a tool that counts instructions. The tool counts the
// instructions of the function collect and of all functions that collect calls.
//
//	paths               # the names of the paths
//	paths PATH          # runs it, and prints how many IDs it handled; exit code 3: try again
package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/sno"
)

const (
	// burst is how many IDs a path handles in a row, and batch how many IDs Fill makes of a counter.
	// A tick has more IDs, and under the tool a burst takes a part of a millisecond.
	burst = 256
	batch = 2048
	// warm is how many bursts run before the counted bursts: for the work of first calls, and until
	// the pace of the processor's counter is known, about 10 ms.
	warm = 8
	// bursts is how many bursts are counted. Each burst begins with a tick: the first ID of a tick,
	// which takes longer, then has the same share in the count on every machine.
	bursts = 40
)

// disturbed is the exit code after a burst that was delayed and continued into a tick without room
// for it. The caller tries again.
const disturbed = 3

// A path handles some IDs in the same way, one after the other or as a batch.
type path struct {
	name string
	n    int // how many IDs a run handles; 0 means burst
	run  func(n int) error
	// room makes the first ID of a tick that starts at random, and reports whether the tick has the
	// IDs of a burst left. room is nil if every tick has.
	room func() (bool, error)
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "paths:", err)
		if errors.Is(err, iderr.ErrExhausted) {
			os.Exit(disturbed)
		}
		os.Exit(1)
	}
}

func run(args []string) error {
	all := paths()
	if len(args) == 0 {
		for _, p := range all {
			fmt.Println(p.name)
		}
		return nil
	}
	for _, p := range all {
		if p.name != args[0] {
			continue
		}
		n := p.n
		if n == 0 {
			n = burst
		}
		for i := range warm + bursts {
			if err := await(p.room); err != nil {
				return err
			}
			run := p.run
			if i >= warm {
				run = func(n int) error { return collect(p.run, n) }
			}
			if err := run(n); err != nil {
				return err
			}
		}
		fmt.Println(n * bursts)
		return nil
	}
	return fmt.Errorf("no path is named %q", args[0])
}

// collect is the function that the tool counts.
//
//go:noinline
func collect(run func(int) error, n int) error { return run(n) }

// await returns at the beginning of a unit of sno, where the ticks of the other formats begin, too.
func await(room func() (bool, error)) error {
	for {
		now := time.Now()
		time.Sleep(now.Truncate(sno.TimeUnit).Add(sno.TimeUnit).Sub(now))
		if room == nil {
			return nil
		}
		if ok, err := room(); ok || err != nil {
			return err
		}
	}
}

package torture

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/firn-id/firn/cmd/firn/internal/spill"
	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease"
)

// Violations by IDs and grants.
const (
	duplicate  = "duplicate"          // an ID that was made twice
	outside    = "outside its grants" // an ID with a time or a worker outside the grants of its process
	early      = "before its grant"   // an ID that was logged before its grant
	disordered = "order"              // an ID that is not greater than the last
	overlap    = "overlap"            // two grants of the same times of a worker
	stuck      = "not alive"          // a generator that makes no IDs after the last fault, without a reason
	misnamed   = "misnamed maker"     // an ID of which the history names another process
	late       = "stale confirmation" // an ID that was confirmed after another process had made a greater ID of the worker
	torn       = "torn log"           // a log without its end, of a process that was not killed
)

// An ended is how a process has ended.
type ended struct {
	number, pid int
	killed      bool // by SIGKILL, as its exit status says
}

// A checker checks the files of a run. The memory grows with the number of processes and grants, not
// of IDs.
type checker struct {
	dir       string
	format    *format
	processes []ended
	histories map[int][]lease.Holder // of all workers
	sum       *Summary

	grants []*granted // by worker and time
}

func newChecker(dir string, f *format, processes []ended, histories map[int][]lease.Holder) *checker {
	return &checker{dir: dir, format: f, processes: processes, histories: histories, sum: newSummary(Config{Format: f.name})}
}

// A granted is an interval of a worker that a process was given, without the part that was given
// back.
type granted struct {
	worker      int
	from, until int64
	given       int64 // end of the grant as given
	process     int
	ids         int64 // how many IDs the process had logged before
	back        bool  // the worker was given back
}

func (g *granted) String() string {
	s := fmt.Sprintf("process %d worker %d %s to %s", g.process, g.worker, timeText(g.from), timeText(g.until))
	if g.given != g.until {
		s += ", the rest to " + timeText(g.given) + " given back"
	}
	return s
}

func compareGrants(a, b *granted) int {
	return cmp.Or(cmp.Compare(a.worker, b.worker), cmp.Compare(a.from, b.from), cmp.Compare(a.until, b.until))
}

// check checks all files.
func (k *checker) check(ctx context.Context) error {
	if err := k.readJournals(); err != nil {
		return err
	}
	return k.checkIDs(ctx)
}

// readJournals reads the journals, and checks the grants.
func (k *checker) readJournals() error {
	for _, p := range k.processes {
		if err := k.readJournal(p); err != nil {
			return fmt.Errorf("the journal of process %d: %w", p.number, err)
		}
	}
	k.sum.Started = len(k.processes)
	k.checkGrants()
	return nil
}

// tears notes a file without its end. A process that is killed may leave one.
func (k *checker) tears(p ended, file string) {
	if !p.killed {
		k.sum.violation(torn, [2]int{p.number}, func() string {
			return fmt.Sprintf("the %s of process %d, which was not killed", file, p.number)
		})
	}
}

// readJournal reads the journal of a process, and computes the grants it has kept.
func (k *checker) readJournal(p ended) error {
	entries, err := readJournal(journalPath(k.dir, p.number))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		k.tears(p, "journal")
	} else if err != nil {
		return err
	}
	var held []*granted // grants of the current worker
	var last *entry     // the seal of the last generator
	var messages *faults.Counts
	for _, e := range entries {
		k.sum.Events[e.Event]++
		if e.Messages != nil {
			messages = e.Messages
		}
		switch e.Event {
		case lease.Acquired.String(), lease.Renewed.String():
			if e.Event == lease.Acquired.String() {
				held = nil
			}
			g := &granted{worker: e.Worker, from: e.From, until: e.Until, given: e.Until, process: p.number, ids: e.IDs}
			held, k.grants = append(held, g), append(k.grants, g)
			if last != nil { // a renewal that was under way, and may have been given back
				cut(held, k.ceil(last.Until), true)
			}
		case lease.Lost.String():
			held = nil // the process keeps these grants
		case lease.Withdrawn.String():
			cut(held, k.ceil(e.Until), false) // the process makes no ID from Until on
		case sealed:
			// The process makes no ID from Until on, and may give the rest back at any time. A
			// process that is killed meanwhile cannot note whether the rest was given back.
			cut(held, k.ceil(e.Until), true)
			if e.Last {
				last = &e
			}
		case lease.Released.String():
			cut(held, e.Until, true)
		case dead:
			k.sum.violation(stuck, [2]int{p.number}, func() string {
				return fmt.Sprintf("process %d, after the last fault: %s", p.number, e.Error)
			})
		case stale:
			k.sum.violation(late, [2]int{p.number}, func() string { return e.Error })
		}
	}
	if messages != nil {
		k.sum.addMessages(*messages)
	}
	return nil
}

// cut ends the grants of a process at a time. back notes that the process gives the worker back. A
// grant that begins later becomes empty.
func cut(held []*granted, at int64, back bool) {
	for _, g := range held {
		g.until = max(min(g.until, at), g.from)
		g.back = g.back || back
	}
}

// ceil rounds up to a whole tick.
func (k *checker) ceil(us int64) int64 {
	epoch, unit := k.format.layout().Epoch.UnixMicro(), k.format.unit()
	if past := (us - epoch) % unit; past != 0 {
		return us - past + unit
	}
	return us
}

// checkGrants checks that no time of a worker was given twice. It counts workers that changed
// processes without being given back.
func (k *checker) checkGrants() {
	slices.SortFunc(k.grants, compareGrants)
	var last, longest *granted
	for _, g := range k.grants {
		if g.until == g.from {
			continue // given back whole
		}
		if last == nil || last.worker != g.worker {
			k.sum.Workers++
			last, longest = g, g
			continue
		}
		if g.from < longest.until {
			k.sum.violation(overlap, [2]int{longest.process, g.process}, func() string { return fmt.Sprintf("%v; %v", longest, g) })
		}
		if last.process != g.process && !last.back {
			k.sum.TakeOvers++
		}
		last = g
		if g.until > longest.until {
			longest = g
		}
	}
}

// checkIDs checks each ID by itself, then sorts all IDs to find duplicates.
func (k *checker) checkIDs(ctx context.Context) error {
	sorter := spill.New[[2]uint64](spill.Config{Memory: 64 << 20, Dir: k.dir})
	defer sorter.Close()
	for _, p := range k.processes {
		err := k.readIDs(p, func(v id) error {
			if k.sum.IDs++; k.sum.IDs%(1<<16) == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return sorter.Add(record(v, p.number))
		})
		if err != nil {
			return fmt.Errorf("the IDs of process %d: %w", p.number, err)
		}
	}
	var last id
	var by int
	var n int64
	err := sorter.Each(ctx, func(batch [][2]uint64) error {
		for _, r := range batch {
			v, process := ofRecord(r)
			if n > 0 && v == last {
				k.sum.violation(duplicate, [2]int{by, process}, func() string {
					return fmt.Sprintf("%s, by process %d and process %d; %s", k.format.text(v), by, process, k.around(v))
				})
			}
			last, by, n = v, process, n+1
		}
		return nil
	})
	if err == nil && n != k.sum.IDs {
		err = fmt.Errorf("the sorter was given %d IDs, and returned %d", k.sum.IDs, n)
	}
	return err
}

// find returns the index after the last of some sorted grants of a worker that begins until a time.
func find(grants []*granted, worker int, at int64) int {
	i, _ := slices.BinarySearchFunc(grants, at, func(g *granted, at int64) int {
		return cmp.Or(cmp.Compare(g.worker, worker), cmp.Compare(g.from, at+1))
	})
	return i
}

// around lists the grants of an ID's worker near its time.
func (k *checker) around(v id) string {
	worker, at := k.format.read(v)
	var near []string
	before := find(k.grants, worker, at)
	for _, g := range k.grants[max(before-2, 0):min(before+1, len(k.grants))] {
		if g.worker == worker {
			near = append(near, "["+g.String()+"]")
		}
	}
	if near == nil {
		return "no grant of the worker is near"
	}
	return "grants: " + strings.Join(near, " ")
}

// readIDs reads and checks the IDs of a process, and passes them on.
func (k *checker) readIDs(p ended, out func(id) error) error {
	var own []*granted
	var logged int64 // as the journal says
	for _, g := range k.grants {
		if g.process == p.number {
			logged = max(logged, g.ids)
			if g.until > g.from {
				own = append(own, g)
			}
		}
	}
	f, err := os.Open(idsPath(k.dir, p.number))
	if errors.Is(err, os.ErrNotExist) {
		return nil // the process ended before its first entry
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var last, v id
	var in *granted // the grant of the ID
	unit := k.format.unit()
	r := bufio.NewReaderSize(f, 1<<18)
	for n := int64(0); ; n++ {
		switch _, err := io.ReadFull(r, v[:k.format.Size]); {
		case err == io.ErrUnexpectedEOF:
			k.tears(p, "log of IDs")
			fallthrough
		case err == io.EOF:
			if logged > n {
				return fmt.Errorf("%d had been logged, of which %d are there", logged, n)
			}
			return nil
		case err != nil:
			return err
		}
		who := func(n int64) string { return fmt.Sprintf("%s, number %d of process %d", k.format.text(v), n, p.number) }
		worker, at := k.format.read(v)
		has := func(g *granted) bool { return g.worker == worker && at >= g.from && at+unit <= g.until }
		if in == nil || !has(in) {
			in = nil
			if i := find(own, worker, at); i > 0 && has(own[i-1]) {
				in = own[i-1]
			}
		}
		switch {
		case in == nil:
			k.sum.violation(outside, [2]int{p.number}, func() string { return who(n) + "; " + k.around(v) })
		case n < in.ids:
			k.sum.violation(early, [2]int{p.number}, func() string {
				return fmt.Sprintf("%s; [%v] was given after %d IDs", who(n), in, in.ids)
			})
		}
		if k.format.Ordered && n > 0 && v.compare(last) <= 0 {
			k.sum.violation(disordered, [2]int{p.number}, func() string { return who(n) + " comes after " + k.format.text(last) })
		}
		if h := k.sum.Makers.judge(k.histories, worker, at, p.number, p.pid); h != nil {
			k.sum.violation(misnamed, [2]int{p.number, h.Process}, func() string { return who(n) + ": the history names " + h.String() })
		}
		last = v
		if err := out(v); err != nil {
			return err
		}
	}
}

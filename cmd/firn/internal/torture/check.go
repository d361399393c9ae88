package torture

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/spill"
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
	stale      = "stale confirmation" // an ID that was confirmed after another process had made a greater ID of the worker
	torn       = "torn log"           // a log without its end, of a process that was not killed
)

// maxOfKind is how many violations of a kind are shown.
const maxOfKind = 3

type checkConfig struct {
	dir      string
	format   *format
	window   time.Duration
	chunk    int
	progress func(Progress)
	holders  map[int][]lease.Holder // of all workers; nil if nobody asked
}

// A checker checks the logs of a run. The memory grows with the number of processes and grants, not
// of IDs.
type checker struct {
	checkConfig
	record record
	sum    *Summary

	logs   []*log
	grants []*granted // by worker and time
	claims []*claim
	killed map[int]bool
	total  int64 // bytes of IDs

	shown   map[shownKey]bool
	shownOf map[string]int
}

// A log is the journal of one process.
type log struct {
	process int
	pid     int
	torn    bool // the end may be missing
	grants  []*granted
	steps   map[int]*stepLog
	seen    []entry // in the order of the IDs
	wanted  []want  // in the order of the IDs
}

type stepLog struct {
	entry
	shown bool // the step had an effect
}

// A granted is an interval of a worker that a process was given, without the part that was given
// back.
type granted struct {
	worker      int
	from, until int64
	given       int64 // end of the grant as given
	process     int
	ids         int64 // how many IDs the process had logged before
	acquired    bool
	back        bool // the worker was given back
}

func (g *granted) String() string {
	s := fmt.Sprintf("process %d worker %d %s to %s", g.process, g.worker, timeText(g.from), timeText(g.until))
	if g.given != g.until {
		s += ", the rest to " + timeText(g.given) + " given back"
	}
	return s
}

func timeText(us int64) string { return time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.000000") }

func check(ctx context.Context, c checkConfig, r record) (*Summary, error) {
	k, err := readGrants(c, r)
	if err != nil {
		return nil, err
	}
	if err := k.checkIDs(ctx); err != nil {
		return nil, err
	}
	k.addAsked(r)
	k.sum.count(r, k.logs)
	if k.holders != nil && k.sum.Makers.Named == 0 {
		k.sum.Missing = append(k.sum.Missing, "an ID whose maker the history names")
	}
	return k.sum, nil
}

// readGrants reads the journals, and checks the grants.
func readGrants(c checkConfig, r record) (*checker, error) {
	k := &checker{checkConfig: c, record: r, sum: newSummary(c.format.name), killed: make(map[int]bool),
		shown: make(map[shownKey]bool), shownOf: make(map[string]int)}
	for _, p := range r.Processes {
		k.killed[p.Number] = p.Killed
		l, err := k.readLog(p)
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", p.Number, err)
		}
		k.logs = append(k.logs, l)
		k.grants = append(k.grants, l.grants...)
	}
	k.checkGrants()
	k.wantRivals()
	return k, nil
}

// violation counts a violation. One mistake makes many violations, so only the first of each kind
// and pair of processes is described, up to maxOfKind.
func (k *checker) violation(kind string, by [2]int, text func() string) {
	k.sum.Violations[kind]++
	at := shownKey{kind, by}
	if k.shown[at] || k.shownOf[kind] == maxOfKind {
		return
	}
	k.shown[at] = true
	k.shownOf[kind]++
	k.sum.Examples = append(k.sum.Examples, kind+": "+text())
}

type shownKey struct {
	kind string
	by   [2]int
}

// readLog reads the journal of a process, and computes the grants it has kept.
func (k *checker) readLog(p processRecord) (*log, error) {
	l := &log{process: p.Number, pid: p.PID, torn: p.Killed, steps: make(map[int]*stepLog)}
	entries, err := readJournal(journalPath(k.dir, p.Number))
	if errors.Is(err, errTorn) {
		if !p.Killed {
			k.violation(torn, [2]int{p.Number}, func() string {
				return fmt.Sprintf("the journal of process %d, which was not killed", p.Number)
			})
		}
	} else if err != nil {
		return nil, err
	}
	var held []*granted // grants of the current worker
	var last *entry     // the seal of the last generator
	for _, e := range entries {
		switch e.Event {
		case acquired, renewed:
			if e.Event == acquired {
				held = nil
			}
			g := &granted{worker: e.Worker, from: e.From, until: e.Until, given: e.Until, process: p.Number, ids: e.IDs, acquired: e.Event == acquired}
			held = append(held, g)
			l.grants = append(l.grants, g)
			if last != nil { // a renewal that was under way, and may have been given back
				cut(held, k.ceil(last.Until), true)
			}
		case lost:
			held = nil // the process keeps these grants
		case withdrawn:
			cut(held, k.ceil(e.Until), false) // the process makes no ID from Until on
			k.sum.Withdrawn++
		case starting:
			k.sum.Late++
		case alive:
			k.sum.Alive++
		case dead:
			if e.Excused {
				k.sum.Excused++
				continue
			}
			k.violation(stuck, [2]int{p.Number}, func() string {
				return fmt.Sprintf("process %d, after the last fault: %s", p.Number, e.Error)
			})
		case sealed:
			// The process makes no ID from Until on, and may give the rest back at any time. A
			// process that is killed meanwhile cannot note whether the rest was given back.
			cut(held, k.ceil(e.Until), true)
			if e.Last {
				last = &e
			}
		case released:
			cut(held, e.Until, true)
			k.sum.Released++
		case stepped:
			l.steps[e.Step] = &stepLog{entry: e}
		case seen:
			l.seen = append(l.seen, e)
		case refused:
			if s := l.steps[e.Step]; s != nil {
				s.shown = true
			}
			k.sum.Refused++
		case confirmed:
			k.sum.Confirmed++
			k.claim(l, e)
		case unconfirmed:
			k.sum.Unconfirmed++
		case messages:
			k.sum.addMessages(e.Messages)
		}
	}
	k.sum.Grants += int64(len(l.grants))
	slices.SortFunc(l.seen, func(a, b entry) int { return cmp.Compare(a.IDs, b.IDs) })
	return l, nil
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
	slices.SortFunc(k.grants, func(a, b *granted) int {
		return cmp.Or(cmp.Compare(a.worker, b.worker), cmp.Compare(a.from, b.from), cmp.Compare(a.until, b.until))
	})
	ends := make(map[int]*granted) // the last grant of each process
	for _, l := range k.logs {
		if n := len(l.grants); n > 0 {
			ends[l.process] = l.grants[n-1]
		}
	}
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
			k.violation(overlap, [2]int{longest.process, g.process}, func() string { return fmt.Sprintf("%v; %v", longest, g) })
		}
		if last.process != g.process && !last.back {
			if k.killed[last.process] && ends[last.process] == last {
				k.sum.TakeOvers.Killed++
			} else {
				k.sum.TakeOvers.Alive++
			}
		}
		last = g
		if g.until > longest.until {
			longest = g
		}
	}
}

// A logged ID is an ID and the process that logged the ID.
type logged struct {
	id
	process uint32
}

// Records of logged IDs sort by the ID, and then by the process.
const (
	loggedSize   = 14     // bytes of a record in a file
	loggedMemory = 4 * 16 // of the memory of a sorter for a record: a chunk takes a quarter
)

func (a logged) record() [2]uint64 {
	return [2]uint64{a.high, uint64(a.low)<<48 | uint64(a.process)<<16}
}

func loggedOf(r [2]uint64) logged { return logged{id{r[0], uint16(r[1] >> 48)}, uint32(r[1] >> 16)} }

// checkIDs checks each ID by itself, then sorts all IDs to find duplicates.
func (k *checker) checkIDs(ctx context.Context) error {
	for _, l := range k.logs {
		if info, err := os.Stat(idsPath(k.dir, l.process)); err == nil {
			k.total += info.Size()
		}
	}
	const usual = 1_000_000 // IDs in memory
	sorter := spill.New[[2]uint64](spill.Config{Memory: loggedMemory * int64(cmp.Or(k.chunk, usual)), Dir: k.dir, Size: loggedSize})
	defer sorter.Close()
	for _, l := range k.logs {
		if err := k.readIDs(ctx, l, func(v logged) error { return sorter.Add(v.record()) }); err != nil {
			return err
		}
	}
	var last logged
	var n int64
	err := sorter.Each(ctx, func(batch [][2]uint64) error {
		for _, r := range batch {
			v := loggedOf(r)
			switch {
			case n > 0 && v.id == last.id:
				a, b := last, v
				k.violation(duplicate, [2]int{int(a.process), int(b.process)}, func() string { return k.describe(a, b) })
			case n > 0 && v.id.compare(last.id) < 0:
				return errors.New("the sorter did not sort")
			}
			if last, n = v, n+1; n%1_000_000 == 0 {
				k.tell(0.5+0.5*float64(n*int64(k.format.Size))/float64(k.total), n)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	k.checkClaims()
	if n != k.sum.IDs {
		return fmt.Errorf("the sorter was given %d IDs, and returned %d", k.sum.IDs, n)
	}
	return nil
}

func (k *checker) tell(part float64, n int64) {
	if k.progress != nil {
		k.progress(Progress{Phase: "check", Part: part, IDs: n})
	}
}

// describe describes an ID that two processes, or one, made twice.
func (k *checker) describe(a, b logged) string {
	worker, at := k.format.read(a.id)
	return fmt.Sprintf("%s: worker %d at %s, by process %d and process %d; %s", k.format.text(a.id), worker,
		timeText(at.UnixMicro()), a.process, b.process, k.around(worker, at.UnixMicro()))
}

// who describes an ID by its number and process.
func (k *checker) who(v id, n int64, l *log) string {
	worker, at := k.format.read(v)
	return fmt.Sprintf("%s: number %d of process %d: worker %d at %s", k.format.text(v), n, l.process, worker, timeText(at.UnixMicro()))
}

// around lists the grants of a worker near a time.
func (k *checker) around(worker int, at int64) string {
	var text strings.Builder
	text.WriteString("grants:")
	before, _ := slices.BinarySearchFunc(k.grants, at, func(g *granted, at int64) int {
		return cmp.Or(cmp.Compare(g.worker, worker), cmp.Compare(g.from, at+1))
	})
	for i := max(before-2, 0); i < min(before+1, len(k.grants)); i++ {
		if g := k.grants[i]; g.worker == worker {
			text.WriteString(" [" + g.String() + "]")
		}
	}
	if text.String() == "grants:" {
		return "no grant of the worker is near"
	}
	return text.String()
}

// readIDs reads and checks the IDs of a process, and passes them on.
func (k *checker) readIDs(ctx context.Context, l *log, out func(logged) error) error {
	f, err := os.Open(idsPath(k.dir, l.process))
	if errors.Is(err, os.ErrNotExist) {
		return nil // the process ended before its first entry
	}
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<18)
	own := slices.DeleteFunc(slices.Clone(l.grants), func(g *granted) bool { return g.until == g.from })
	slices.SortFunc(own, func(a, b *granted) int { return cmp.Or(cmp.Compare(a.worker, b.worker), cmp.Compare(a.from, b.from)) })
	none := &granted{until: math.MinInt64}
	in := none
	unit := k.format.unit()
	var last id
	b := make([]byte, k.format.Size)
	for n := int64(0); ; n++ {
		if _, err := io.ReadFull(r, b); err != nil {
			switch {
			case err == io.EOF:
				return k.unseen(l, n)
			case err != io.ErrUnexpectedEOF:
				return err
			case !l.torn:
				k.violation(torn, [2]int{l.process}, func() string {
					return fmt.Sprintf("the IDs of process %d, which was not killed", l.process)
				})
			}
			return k.unseen(l, n)
		}
		v := decode(b)
		worker, t := k.format.read(v)
		at := t.UnixMicro()
		if worker != in.worker || at < in.from || at+unit > in.until {
			in = cmp.Or(find(own, worker, at, unit), none)
		}
		if k.holders != nil {
			k.judgeMaker(v, n, l, worker, at)
		}
		switch {
		case in == none:
			k.violation(outside, [2]int{l.process}, func() string {
				return fmt.Sprintf("%s; %s", k.who(v, n, l), k.around(worker, at))
			})
		case n < in.ids:
			k.violation(early, [2]int{l.process}, func() string {
				return fmt.Sprintf("%s; [%v] was given after %d IDs", k.who(v, n, l), in, in.ids)
			})
		}
		if k.format.Ordered && n > 0 && (v.high < last.high || v.high == last.high && v.low <= last.low) {
			k.violation(disordered, [2]int{l.process}, func() string {
				return fmt.Sprintf("%s comes after %s", k.who(v, n, l), k.format.text(last))
			})
		}
		for len(l.seen) > 0 && l.seen[0].IDs == n {
			if s := l.steps[l.seen[0].Step]; s != nil && shows(k.format, at, l.seen[0].From, l.seen[0].Until, s.Before, s.Offset) {
				s.shown = true
			}
			l.seen = l.seen[1:]
		}
		for len(l.wanted) > 0 && l.wanted[0].number == n {
			*l.wanted[0].to = v
			l.wanted = l.wanted[1:]
		}
		last = v
		k.sum.IDs++
		if k.sum.IDs%1_000_000 == 0 {
			k.tell(0.5*float64(k.sum.IDs*int64(k.format.Size))/float64(k.total), k.sum.IDs)
		}
		if err := out(logged{v, uint32(l.process)}); err != nil {
			return err
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// unseen returns an error if the journal mentions IDs missing in the log.
func (k *checker) unseen(l *log, n int64) error {
	most := int64(0)
	for _, g := range l.grants {
		most = max(most, g.ids)
	}
	for _, w := range l.wanted {
		most = max(most, w.number+1)
	}
	if most > n {
		return fmt.Errorf("process %d had logged %d IDs, of which %d are there", l.process, most, n)
	}
	return nil
}

// find returns the grant of an ID, among the grants of the process.
func find(own []*granted, worker int, at, unit int64) *granted {
	i, _ := slices.BinarySearchFunc(own, at, func(g *granted, at int64) int {
		return cmp.Or(cmp.Compare(g.worker, worker), cmp.Compare(g.from, at+1))
	})
	if i--; i >= 0 && own[i].worker == worker && at+unit <= own[i].until {
		return own[i]
	}
	return nil
}

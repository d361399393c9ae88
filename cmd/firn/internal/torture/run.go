package torture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/pause"
)

// A runner runs the processes, one in each slot at a time.
type runner struct {
	Config
	format  *format
	place   place
	journal journal // of the faults
	number  atomic.Int64
	cold    sync.WaitGroup // slots without an ID yet
	stormy  sync.WaitGroup // slots with faults to come
	begun   sync.Once

	mu     sync.Mutex
	end    time.Time // when the time is up
	all    []*process
	faults []fault // for the slots
	sum    *Summary
}

// newRunner makes the pool of a run.
func newRunner(ctx context.Context, c Config, f *format, dir string) (*runner, error) {
	r := &runner{Config: c, format: f, place: placeOf(c, dir), faults: faultsOf(c.Via != nil)}
	r.sum = newSummary(c)
	for _, f := range r.faults {
		r.sum.Faults = append(r.sum.Faults, FaultCount{Kind: string(f.kind), Size: f.size})
	}
	err := r.place.create(ctx, c.Open, f)
	if err == nil {
		r.journal.file, err = create(filepath.Join(dir, "run.journal"))
	}
	return r, err
}

// run runs until all faults have happened. The error is that a process failed, or that ctx ended.
func (r *runner) run(parent context.Context) error {
	defer r.journal.file.Close()
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	var slots []*slot
	for i := range r.Processes {
		s, err := r.newSlot(i)
		if err != nil {
			return err
		}
		defer s.network.close()
		slots = append(slots, s)
	}
	show, err := r.hide(slots)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	start := func(part func() error) {
		all.Go(func() {
			if err := part(); err != nil {
				cancel(err)
			}
		})
	}
	r.cold.Add(len(slots))
	r.stormy.Add(len(slots))
	for _, s := range slots {
		start(func() error { return s.run(ctx) })
	}
	start(func() error {
		pause.For(ctx, 2*r.Window)
		for end := time.Now().Add(patience); !r.startedAway() && time.Now().Before(end) && pause.For(ctx, 20*time.Millisecond) == nil; {
		}
		return show()
	})
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.progress()
		case <-ended:
			return context.Cause(ctx)
		}
	}
}

func (r *runner) progress() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Progress == nil || r.end.IsZero() {
		return
	}
	var bytes int64
	for _, p := range r.all {
		bytes += p.size()
	}
	left := time.Until(r.end).Seconds() / r.Duration.Seconds()
	r.Progress(min(1-left, 1), fmt.Sprintf("run: %d IDs", bytes/int64(r.format.Size)))
}

// hides reports whether hide can take the store away.
func (r *runner) hides() bool { return r.Store == "" || r.Via != nil }

// hide takes the store away from the first processes, which start without it: their network, or the
// directory of the files. Show brings the store back.
func (r *runner) hide(slots []*slot) (show func() error, err error) {
	if r.Store == "" {
		from, to := r.place.files(), r.place.files()+".away"
		return func() error { return os.Rename(to, from) }, os.Rename(from, to)
	}
	set := func(w weather) error {
		for _, s := range slots {
			s.network.set(w)
		}
		return nil
	}
	return func() error { return set(weather{}) }, set(weather{loseRequests: true, loseReplies: true})
}

// startedAway reports whether a process has started while its store was away. A busy machine takes a while.
func (r *runner) startedAway() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.hides() || slices.ContainsFunc(r.all, func(p *process) bool {
		entries, _ := readJournal(journalPath(r.place.Dir, p.number)) // what is there by now
		return slices.ContainsFunc(entries, func(e entry) bool { return e.Event == away })
	})
}

// begin begins the faults, once all slots make IDs.
func (r *runner) begin() {
	r.cold.Wait()
	r.begun.Do(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.end = time.Now().Add(r.Duration)
	})
}

// choices returns the faults to draw from, and none if the run is over. A run shows something only about
// faults that happened, and a busy machine may not do all in time. So the run is late then, and goes on until
// each fault has happened, and a worker was taken over.
func (r *runner) choices() (of []fault, late bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.end) {
		return r.faults, false
	}
	if r.overdue() {
		return nil, true
	}
	for i, f := range r.faults {
		if r.sum.Faults[i].Happened == 0 {
			of = append(of, f)
		}
	}
	if of == nil && !r.tookOver() {
		of = []fault{{kind: kill, size: plainly}}
	}
	return of, true
}

// overdue reports whether a late run has to end.
func (r *runner) overdue() bool { return time.Since(r.end) > time.Minute+20*r.Window }

// over is overdue for callers that do not hold mu.
func (r *runner) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.overdue()
}

// tookOver reports whether the journals show a worker that went from one process to another.
func (r *runner) tookOver() bool {
	var now []ended
	for _, p := range r.all {
		now = append(now, ended{number: p.number, killed: true}) // its journal may end anywhere
	}
	k := newChecker(r.place.Dir, r.format, now, nil)
	return k.readJournals() == nil && k.sum.TakeOvers > 0
}

// note notes a fault that was done to a process.
func (r *runner) note(k kind, size string, process int, happened bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	if happened {
		n = 1
	}
	r.sum.fault(string(k), size, 1, n)
	return r.journal.write(entry{Event: string(k), Size: size, Process: process, Happened: happened})
}

// ended returns how the processes have ended.
func (r *runner) ended() (all []ended) {
	for _, p := range r.all {
		all = append(all, ended{p.number, p.cmd.Process.Pid, wasKilled(p.cmd.ProcessState)})
	}
	return all
}

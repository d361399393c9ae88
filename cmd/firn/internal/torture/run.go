package torture

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A runner runs the processes, one in each slot at a time.
type runner struct {
	config Config
	format *format
	place  place
	plans  [][]action
	cold   sync.WaitGroup // slots without an ID yet

	aborted atomic.Bool   // the run failed: end everything
	number  atomic.Int64  // number of the last process
	faults  atomic.Int64  // faults that happened
	late    atomic.Bool   // the time is up: only due actions are still done
	judged  atomic.Bool   // processes had to show that they make IDs
	mended  chan struct{} // closed when all servers work again

	mu    sync.Mutex
	due   []action  // planned actions that have not happened yet, one of each kind and size
	began time.Time // when all slots made IDs; zero before
	all   []*process
	rates float64 // IDs per second and process
	notes []fault

	asked    Makers
	misnamed []string // the wrong answers
	confirms bool     // the store can confirm
}

func newRunner(c Config, f *format, at place) *runner {
	return &runner{config: c, format: f, place: at, mended: make(chan struct{}), plans: plan(c.Seed, c.Processes, c.Window, c.Duration, c.Via != nil),
		rates: float64(c.IDs) / c.Duration.Seconds() / float64(c.Processes)}
}

// run runs for the duration. The error is that a process failed, or that ctx ended.
func (r *runner) run(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	context.AfterFunc(ctx, func() { r.aborted.Store(true) })
	active, stop := context.WithCancel(ctx)
	defer stop()
	for _, a := range slices.Concat(r.plans...) {
		if a.kind != setBack && !slices.ContainsFunc(r.due, a.like) {
			r.due = append(r.due, a)
		}
	}
	r.cold.Add(len(r.plans))
	go func() {
		r.cold.Wait()
		r.mu.Lock()
		r.began = time.Now()
		r.mu.Unlock()
		time.AfterFunc(r.config.Duration, func() {
			r.overtime(active)
			stop()
		})
	}()
	var slots sync.WaitGroup
	running := make([]*slot, len(r.plans))
	for i := range r.plans {
		s := &slot{runner: r, index: i, end: active.Done(), place: r.place}
		running[i] = s
		if err := s.connect(); err != nil {
			return err
		}
		defer s.disconnect()
	}
	show, err := r.hide(running)
	if err != nil {
		return err
	}
	for i, s := range running {
		actions := r.plans[i]
		slots.Go(func() {
			if err := s.run(actions); err != nil {
				cancel(err)
			}
		})
	}
	if r.config.Server == nil {
		close(r.mended)
	} else {
		slots.Go(func() {
			defer close(r.mended)
			if err := r.breakServers(active, ctx); err != nil {
				cancel(err)
			}
		})
	}
	slots.Go(func() {
		select {
		case <-time.After(2 * r.config.Window):
		case <-ctx.Done():
		}
		// A busy machine may not have started a process by now.
		for end := time.Now().Add(patience); r.hides() && !r.waits() && ctx.Err() == nil && time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		err := show()
		if err == nil {
			err = r.askAll(active)
		}
		if err != nil {
			cancel(err)
		}
	})
	ended := make(chan struct{})
	go func() { slots.Wait(); close(ended) }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.pace(running)
			continue
		case <-ended:
		}
		break
	}
	if err := context.Cause(ctx); err != nil {
		for _, p := range r.all { // processes of slots that failed
			p.kill()
		}
		return err
	}
	return nil
}

// hides reports whether hide takes the store away.
func (r *runner) hides() bool { return r.place.Store == "" || r.config.Via != nil }

// waits reports whether a process has started while its store was away.
func (r *runner) waits() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.all, func(p *process) bool { return p.waits.Load() })
}

// hide takes the store away from the first processes, which start without it: their network, or the
// directory of the files. Show brings the store back.
func (r *runner) hide(running []*slot) (show func() error, err error) {
	if r.place.Store == "" {
		from, to := r.place.files(), r.place.files()+".away"
		return func() error { return os.Rename(to, from) }, os.Rename(from, to)
	}
	var spells []*spell
	for _, s := range running {
		spells = append(spells, begin(s.links, weather{loseRequests: true, loseReplies: true}))
	}
	return func() error {
		for _, s := range spells {
			s.end()
		}
		return nil
	}, nil
}

// overtime waits for planned faults that did not happen in time, as on a busy machine: a run shows
// something only about faults that happened. If no process has taken over a worker yet, more
// processes are killed.
func (r *runner) overtime(ctx context.Context) {
	r.late.Store(true)
	end := time.After(time.Minute + 20*r.config.Window)
	kills := slices.ContainsFunc(slices.Concat(r.plans...), action{kind: kill}.like)
	for tookOver := !kills; ; {
		if len(r.owed()) == 0 {
			if tookOver = tookOver || r.tookOver(); tookOver {
				return
			}
			r.mu.Lock()
			r.due = append(r.due, action{kind: kill})
			r.mu.Unlock()
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-end:
			return
		case <-ctx.Done():
			return
		}
	}
}

// tookOver reports whether the journals show a worker that went from one process to another.
func (r *runner) tookOver() bool {
	var now record
	r.mu.Lock()
	for _, p := range r.all {
		now.Processes = append(now.Processes, processRecord{Number: p.number, Killed: true}) // its journal may end anywhere
	}
	r.mu.Unlock()
	k, err := readGrants(checkConfig{dir: r.place.Dir, format: r.format}, now)
	return err == nil && k.sum.TakeOvers.Killed+k.sum.TakeOvers.Alive > 0
}

// owed returns the actions that are due.
func (r *runner) owed() []action {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.due)
}

// pace sets the rate of the processes, and reports the progress.
func (r *runner) pace(running []*slot) {
	r.mu.Lock()
	if r.began.IsZero() {
		r.mu.Unlock()
		return
	}
	var bytes int64
	for _, p := range r.all {
		bytes += p.size()
	}
	made := bytes / int64(r.format.Size)
	spent := time.Since(r.began)
	// The rate is a little higher than needed, since some processes always stand still.
	left := max(r.config.Duration-spent, time.Second)
	r.rates = max(1.3*float64(r.config.IDs*102/100-made)/left.Seconds()/float64(len(r.plans)), 100)
	r.mu.Unlock()
	for _, s := range running {
		s.order()
	}
	if r.config.Progress != nil {
		part := min(spent.Seconds()/r.config.Duration.Seconds(), 1)
		r.config.Progress(Progress{Phase: "run", Part: part, IDs: made, Faults: r.faults.Load()})
	}
}

func (r *runner) rate() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rates
}

func (r *runner) note(f fault) {
	if f.Happened && f.Kind != finish {
		r.faults.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, f)
	if f.Happened && !f.unseen {
		r.due = slices.DeleteFunc(r.due, action{kind: f.Kind, name: f.Size}.like)
	}
}

// record returns what happened, after all processes have ended.
func (r *runner) record() record {
	rec := record{Faults: r.notes, Judged: r.judged.Load(), Asked: r.asked, Misnamed: r.misnamed, Confirms: r.confirms,
		Hidden: r.hides()}
	for _, p := range r.all {
		killed := wasKilled(p.cmd.ProcessState)
		rec.Processes = append(rec.Processes, processRecord{Number: p.number, PID: p.cmd.Process.Pid, Slot: p.slot, Began: p.began, Ended: p.ended,
			Killed: killed, GaveUp: !killed && !p.asked, Idle: p.idle})
	}
	slices.SortFunc(rec.Processes, func(a, b processRecord) int { return cmp.Compare(a.Number, b.Number) })
	slices.SortFunc(rec.Faults, func(a, b fault) int { return cmp.Compare(a.At, b.At) })
	return rec
}

// breakServers does the faults of the servers in turn, until active ends. The seed gives the order.
func (r *runner) breakServers(active, ctx context.Context) error {
	random := rand.New(rand.NewPCG(r.config.Seed, 1))
	windows := func(n float64) time.Duration { return time.Duration(n * float64(r.config.Window)) }
	r.cold.Wait()
	for {
		ways := slices.Clone(r.config.Server.Faults())
		random.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
		for _, way := range ways {
			select {
			case <-time.After(windows(1 + 2*random.Float64())):
			case <-active.Done():
				return nil
			}
			f := fault{Kind: breakdown, Size: way, Slot: -1, At: realNow()}
			if err := r.config.Server.Break(ctx, way, windows(0.3+1.7*random.Float64())); err != nil {
				return fmt.Errorf("%s: %w", way, err)
			}
			f.Happened = true
			r.note(f)
		}
	}
}

// Package ids has the commands about IDs: firn new and firn inspect.
package ids

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// newFlags are the flags of firn new.
type newFlags struct {
	formats.Options
	stores.State
	count      cli.Count
	worker     formats.Worker
	making     formats.MakingFlags
	as         formats.Form
	json       bool
	pool       stores.PoolName
	noState    bool
	trustClock bool
	wait       time.Duration
}

// New returns the command firn new.
func New(s *cli.Streams) *cobra.Command {
	f := newFlags{count: 1}
	cmd := &cobra.Command{
		Use:   "new FORMAT [-n COUNT]",
		Short: "Generate IDs, one per line",
		Example: `  firn new scru160
  firn new nanoflake --state ids -n 1000
  firn new sno --worker 513 --meta 7 --as hex`,
		ValidArgsFunction: formats.CompleteFormat,
		Args:              formats.OneFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.check(args[0])
			if err != nil {
				return err
			}
			return f.generate(cmd.Context(), s, r)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(&f.count, "count", "n", "make this many IDs")
	f.worker.AddTo(cmd, "one that is free")
	f.as.AddTo(cmd, "write IDs as text, int or hex", formats.WrittenForms)
	flags.BoolVar(&f.json, "json", false, "write one JSON object per ID")
	f.Options.AddTo(cmd)
	f.making.AddTo(cmd)
	f.State.AddTo(cmd)
	f.AddNoCreateTo(cmd, "fail if the store or the pool does not exist")
	flags.Var(&f.pool, "pool", "take the worker from this pool")
	flags.BoolVar(&f.making.Fenced, "fenced", false, "lease the times (ulidflake and scru160)")
	flags.BoolVar(&f.noState, "no-state", false, "use --worker without a pool")
	flags.DurationVar(&f.wait, "wait", defaultWait, "wait this long for a free worker")
	flags.BoolVar(&f.trustClock, "trust-clock", false, "use the clock even if the pool disagrees")
	cli.Group(cmd, "Store", "pool", "fenced", "no-state", "wait", "trust-clock")
	cli.Complete(cmd, "count")
	cli.Complete(cmd, "wait")
	if err := cmd.RegisterFlagCompletionFunc("pool", f.CompletePool); err != nil {
		panic(err) // no such flag, or twice
	}
	return cmd
}

// generate writes the IDs of a recipe.
func (f *newFlags) generate(ctx context.Context, s *cli.Streams, r formats.Recipe) error {
	made, err := r.Make()
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal(ctx, &s.Cleanup)
	defer stop()
	if r.Leased {
		return f.leased(ctx, s, r.Format, made)
	}
	if f.worker.Given && !f.noState {
		cli.Complain(s.Err, fmt.Errorf("note: no store named, so nothing keeps other runs from worker %d (--no-state says that it is meant)", f.worker.Value))
	}
	return stream(ctx, s, made.Next, f.count)
}

// check returns the recipe for the flags, or an error of usage.
func (f *newFlags) check(name string) (r formats.Recipe, err error) {
	if r.Format, err = formats.Named(name); err != nil {
		return r, err
	}
	r.Form, r.JSON = f.as.Form, f.json
	if r.Recipe, err = f.making.Recipe(&f.Options, r.Format); err != nil {
		return r, err
	}
	if err := f.as.Refuse(r.Format); err != nil {
		return r, err
	}
	if f.json && f.as.Given {
		return r, cli.Usagef("--as %s: cannot be used with --json, which has every form", f.as)
	}
	s, err := r.Format.Descriptor().Of(r.Settings)
	if err != nil {
		return r, err
	}
	if err := f.worker.Check(r.Format, &s); err != nil {
		return r, err
	}
	r.Worker, r.Leased = f.worker.Value, f.leases(&s)
	if err := f.checkState(r.Format, &s, r.Leased); err != nil {
		return r, err
	}
	for _, name := range []string{"sequence-min", "sequence-max"} {
		if r.Leased && f.Flags.Changed(name) {
			return r, cli.Usagef("--%s: firn leases a partition with its whole sequence: leave out --%[1]s", name)
		}
	}
	return r, nil
}

// leases reports whether a worker or times come from a pool. A worker that is given without a store is used as it is.
func (f *newFlags) leases(s *shape.Shape) bool {
	_, ok := s.LastWorker()
	pooled := !f.worker.Given || f.Named() || slices.ContainsFunc(poolFlags, f.Flags.Changed)
	return f.making.Fenced || ok && !f.noState && pooled
}

// poolFlags are flags that make no sense without a pool.
var poolFlags = []string{"store", "state", "no-create", "pool", "wait", "trust-clock"}

// checkState returns an error if flags about pools contradict each other or the format, or if a worker is missing.
func (f *newFlags) checkState(format formats.Format, s *shape.Shape, leased bool) error {
	last, workers := s.LastWorker()
	switch {
	case f.making.Fenced && f.noState:
		return cli.Usagef("--fenced: cannot be used with --no-state")
	case f.wait < 0:
		return cli.BadFlag("wait", f.wait.String(), "is negative")
	case leased:
		return nil
	}
	for _, name := range poolFlags {
		if f.Flags.Changed(name) {
			if f.noState {
				return cli.Usagef("--%s: cannot be used with --no-state", name)
			}
			return cli.Usagef("--%s: %s uses a pool only with --fenced", name, format.Name())
		}
	}
	if !workers || f.worker.Given || last == 0 { // 0 is the only worker
		return nil
	}
	words := append([]string{format.Name()}, f.Given()...)
	return cli.Usagef("--no-state needs --worker, the %s, 0 to %d, as in: firn new %s --no-state --worker %d",
		format.WorkerName(), last, strings.Join(words, " "), min(7, last))
}

// leased writes IDs with a leased worker, or with leased times.
func (f *newFlags) leased(ctx context.Context, s *cli.Streams, format formats.Format, made *formats.Made) error {
	wanted, err := made.Pool()
	if err != nil {
		return err
	}
	f.Makes(cmp.Or(string(f.pool), wanted.Name), format.Name(), f.Given())
	store, c, err := f.leaseConfig(ctx, s, wanted)
	if err != nil {
		return f.State.Hint(err)
	}
	defer store.Close()
	warned := stores.Warn(ctx, s, &f.State, store)
	alone := f.warnOverlap(ctx, s, wanted, store, c)
	release := cli.HoldPipe()
	defer release()
	told := f.sayIfWaiting(s)
	held, err := made.Lease(ctx, store, c)
	told.Stop()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	warned()
	if err != nil {
		return f.State.Hint(err)
	}
	alone()
	s.Cleanup.Set(func() {
		held.Close()
		release()
	})
	defer s.Cleanup.Set(nil)
	err = stream(ctx, s, made.Next, f.count)
	// The IDs are distinct even if the pool does not learn that the worker is free, so a failure to
	// return the worker is a warning. After another error the warning would say nothing new.
	if open := held.Close(); open != nil && err == nil {
		cli.Complain(s.Err, fmt.Errorf("warning: pool %s: worker %d was not returned, and is not free before %s: %w",
			held.Pool().Name(), held.Worker(), cli.TimeText(held.Until()), f.State.Hint(open)))
	}
	return f.State.Hint(err)
}

// warnOverlap returns a function that warns if this run has made the pool, and the directory has a
// pool for the same IDs.
func (f *newFlags) warnOverlap(ctx context.Context, s *cli.Streams, wanted grant.Spec, store driver.Store, c lease.Config) (say func()) {
	if !c.Create {
		return func() {}
	}
	if names, err := lease.Names(ctx, store); err != nil || slices.Contains(names, wanted.Name) || len(names) == 0 {
		return func() {} // the pool exists already, or is the first
	}
	return func() { stores.CheckOverlap(ctx, s, &f.State, store, wanted, true) }
}

const (
	// defaultWait is longer than other runs take to make a million IDs of any format.
	defaultWait = time.Minute

	// patience is how long a command may say nothing on a terminal.
	patience = 2 * time.Second
)

// sayIfWaiting writes on a terminal that firn waits for a worker, unless the timer is stopped
// first.
func (f *newFlags) sayIfWaiting(s *cli.Streams) *time.Timer {
	return time.AfterFunc(patience, func() {
		if e, ok := s.Err.(*os.File); ok && term.IsTerminal(int(e.Fd())) && f.wait > patience {
			cli.Complain(s.Err, fmt.Errorf("waiting for a free worker, for up to %v (--wait 0 fails at once)", f.wait))
		}
	})
}

// leaseConfig returns the store and the lease that the flags ask for.
func (f *newFlags) leaseConfig(ctx context.Context, s *cli.Streams, wanted grant.Spec) (driver.Store, lease.Config, error) {
	c := lease.Config{TrustClock: f.trustClock, Wait: f.wait, Notify: func(e lease.Event) {
		if e.Kind == lease.Created {
			f.SayCreated(s)
		}
	}}
	if f.wait == 0 {
		c.Wait = -1
	}
	if f.worker.Given {
		c.Worker = lease.Number(f.worker.Value)
	}
	at, err := f.Place()
	if err != nil {
		return nil, c, err
	}
	// Only the default pool in files is made when it is needed. A name given by --pool may be
	// misspelled, and the address of a shared store may be wrong: a new and empty pool there would
	// give out workers that processes already hold elsewhere.
	if at.Dir != "" && !f.NoCreate && (f.pool == "" || string(f.pool) == wanted.Name) {
		c.Create = true
		store, _, err := f.Open(ctx)
		return store, c, err
	}
	c.Pool = string(f.pool)
	store, _, err := f.LookFor(ctx, c.Pool)
	return store, c, err
}

// stream writes n IDs, with one batch in memory at a time.
func stream(ctx context.Context, s *cli.Streams, next func(context.Context, []byte, int) ([]byte, error), n cli.Count) error {
	var lines []byte
	for n > 0 {
		some := int(min(n, formats.MaxBatch))
		var err error
		lines, err = next(ctx, lines[:0], some)
		if _, err := s.Out.Write(lines); err != nil {
			return err
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			return err
		}
		n -= cli.Count(some)
	}
	return nil
}

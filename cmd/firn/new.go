package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/leased"
	"github.com/firn-id/firn/snowflakesi"
)

// newFlags are those of firn new.
type newFlags struct {
	options
	state
	count      count
	worker     number
	partition  number // the worker, by sno's name for it
	meta       number
	as         form
	json       bool
	pool       poolName
	fenced     bool
	noState    bool
	trustClock bool
	wait       time.Duration
}

// newNew returns the command firn new.
func newNew(s *streams) *cobra.Command {
	f := newFlags{count: 1}
	cmd := &cobra.Command{
		Use:   "new FORMAT [-n COUNT]",
		Short: "Make IDs, one a line",
		Long: `Make IDs, one a line, in the order in which they are issued.

Formats: ` + list(names(), "and") + `.

Generators that share a worker number make the same IDs. It is the
` + workers() + `firn takes one that is free from a pool, which is kept in files on this machine, and
gives it back at the end. So runs that share a pool never make the same ID, whatever
crashes and whatever the clock does. With --worker it takes that one. If it is taken, or
all are, it waits for a while: --wait says how long.

Each user of a machine has a pool. A worker that a process of another user has now is
left out, so runs of several users at once never make the same ID. Only a shared pool
remembers, for all of them, what was used before the clock was set back: for users, a
--state directory that was made for a group of theirs (mkdir -m 2770). Machines and
containers share nothing by themselves: give their processes a --store, where firn pool
create has made the pool, or, for containers of one machine, a --state directory on a
volume that all of them mount. Without --state or --store, firn refuses to keep a pool
where it is lost with a container or at a restart. Pools of other names, and in other
directories that you name, know nothing of each other.

The other formats have no worker number, and rely on random bits. With --fenced they
get their times from a pool too, one process at a time, and no ID comes twice from it.

--no-state goes without the pool, for machines whose disks are read-only. What is lost:
nothing keeps the worker from being used twice at once, or again after the clock was
set back.`,
		Example: `  firn new scru160
  firn new nanoflake -n 1000
  firn new nanoflake --worker 7 --epoch 2020-01-01T00:00:00Z --json
  firn new nanoflake --store etcd://etcd-1,etcd-2,etcd-3/firn
  firn new nanoflake --worker 7 --no-state
  firn new ulidflake --fenced
  firn new snowflakesi --clock-bits 41 --machine-bits 0
  firn new sno --partition 513 --meta 7 --as hex`,
		DisableFlagsInUseLine: true,
		ValidArgsFunction:     completeFormat,
		Args:                  oneFormat,
		RunE: func(cmd *cobra.Command, args []string) error {
			format, r, err := f.check(args[0])
			if err != nil {
				return err
			}
			next, err := format.start(r) // with a pool too: wrong usage must not touch that
			if err != nil {
				return f.options.explain(err)
			}
			ctx, stop := untilSignal(cmd.Context(), &s.last)
			defer stop()
			if f.leases(format) {
				return f.leased(ctx, s, format, r)
			}
			return stream(ctx, s, next, f.count)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(&f.count, "count", "n", "how many")
	flags.Var(&f.worker, "worker", "worker number: generator ID, scalability, machine ID\nor partition (default: one that is free)")
	flags.Var(&f.partition, "partition", "the same for sno, by its name for it")
	flags.Var(&f.meta, "meta", "metabyte, 0 to 255 (sno; default 0)")
	f.as.addTo(cmd, "write them as text, int or hex (scru160 and sno\nhave no int)", writtenForms)
	flags.BoolVar(&f.json, "json", false, "write what they say, one JSON object a line")
	f.options.addTo(cmd)
	f.state.addTo(cmd)
	flags.Var(&f.pool, "pool", "pool to take from, which firn pool create has made\n(default: one for the format and its settings)")
	flags.BoolVar(&f.fenced, "fenced", false, "take the times from a pool (ulidflake and scru160)")
	flags.BoolVar(&f.noState, "no-state", false, "keep no record of the --worker in a pool: see above")
	flags.DurationVar(&f.wait, "wait", defaultWait, "how long to wait for a worker that is free")
	flags.BoolVar(&f.trustClock, "trust-clock", false, "take the clock for right if the pool says otherwise")
	complete(cmd, "count")
	complete(cmd, "worker")
	complete(cmd, "partition")
	complete(cmd, "meta")
	complete(cmd, "wait")
	if err := cmd.RegisterFlagCompletionFunc("pool", f.completePool); err != nil {
		panic(err) // no such flag, or twice
	}
	return cmd
}

// workers lists what each format calls its worker number, and its range.
func workers() string {
	var lines string
	for _, name := range names() {
		if f, _ := lookup(name); f.lastWorker != nil {
			lines += fmt.Sprintf("  %-12s  of %s, 0 to %d\n", f.Worker(), name, f.lastWorker(snowflakesi.DefaultLayout()))
		}
	}
	return lines
}

func oneFormat(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usagef("no format given: want %s", list(names(), "or"))
	case 1:
		return nil
	}
	return usagef("too many arguments: %q after the format", args[1])
}

// check returns the format and the recipe that the flags ask for, or what is wrong with them.
func (f *newFlags) check(name string) (format, recipe, error) {
	in, err := formatNamed(name)
	if err != nil {
		return in, recipe{}, err
	}
	r := recipe{format: in.Format, form: f.as.Form, json: f.json}
	for _, check := range []func(format) error{f.refuse, f.as.refuse, f.checkJSON, f.checkPartition, f.checkMeta, f.checkState} {
		if err := check(in); err != nil {
			return in, r, err
		}
	}
	if r.set, err = f.settings(); err != nil {
		return in, r, err
	}
	r.worker, r.meta = f.worker.value, byte(f.meta.value)
	return in, r, f.checkWorker(in, r.set.Layout)
}

func (f *newFlags) checkJSON(format) error {
	if f.json && f.as.set {
		return usagef("--as %s: goes without --json, which has every form", f.as)
	}
	return nil
}

// checkPartition takes the partition for the worker number, which it is by another name,
// for sno alone: a worker number that is not the one meant is a duplicate to come.
func (f *newFlags) checkPartition(format format) error {
	switch {
	case !f.partition.set:
		return nil
	case format.Worker() != "partition":
		return usagef("--partition: %s has no partition", format.name)
	case f.worker.set:
		return usagef("--partition %s: is --worker by another name, and both are given", f.partition.text)
	}
	f.worker = f.partition
	return nil
}

// checkWorker tells whether there is a worker number where no pool gives one, and none where
// the format has none. Whether it is in its range, the library says.
func (f *newFlags) checkWorker(format format, layout snowflakesi.Layout) error {
	switch {
	case format.lastWorker == nil && f.worker.set:
		return usagef("--worker: %s has no worker number, and needs none", format.name)
	case format.lastWorker == nil || f.worker.set || !f.noState:
		return nil
	}
	last := format.lastWorker(layout)
	if last == 0 { // no bits
		return nil
	}
	return usagef("--no-state needs --worker, the %s, 0 to %d, as in: firn new %s --no-state --worker %d",
		format.Worker(), last, format.name, min(7, last))
}

// leases tells whether the format's worker or times come from a pool.
func (f *newFlags) leases(format format) bool {
	return f.fenced || format.lastWorker != nil && !f.noState
}

// checkState tells whether the flags about pools go together, and with the format.
func (f *newFlags) checkState(format format) error {
	switch {
	case f.fenced && format.lastWorker != nil:
		return usagef("--fenced: %s has a worker number, and its times come with that", format.name)
	case f.fenced && f.noState:
		return usagef("--fenced: goes without --no-state")
	case f.wait < 0:
		return badFlag("wait", f.wait.String(), "is less than nothing")
	case f.leases(format):
		_, err := f.place()
		if errors.As(err, new(usageError)) {
			return err
		}
		return nil
	}
	for _, name := range []string{"store", "state", "pool", "wait", "trust-clock"} {
		if f.flags.Changed(name) {
			if f.noState {
				return usagef("--%s: goes without --no-state", name)
			}
			return usagef("--%s: %s takes nothing from a pool without --fenced", name, format.name)
		}
	}
	return nil
}

// checkMeta tells whether the metabyte, if one is given, is one of the format's.
func (f *newFlags) checkMeta(format format) error {
	switch {
	case !f.meta.set:
		return nil
	case !format.metas:
		return usagef("--meta: %s has no metabyte", format.name)
	case f.meta.value < 0 || f.meta.value > 255:
		return badFlag("meta", f.meta.text, "is not in 0 to 255")
	}
	return nil
}

// leased writes IDs of a worker, or of times, from a pool.
func (f *newFlags) leased(ctx context.Context, s *streams, format format, r recipe) error {
	o, err := f.leaseOptions(ctx, format, r)
	if err != nil {
		return f.state.explain(err)
	}
	defer o.Store.Close()
	warned := warn(ctx, s, o.Store)
	alone := f.lookBeside(ctx, s, format, r, o)
	release := holdPipe()
	defer release()
	told := f.sayIfWaiting(s)
	next, held, err := format.lease(ctx, r, o)
	told.Stop()
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	warned()
	if err != nil {
		return f.explainLease(err, format, o)
	}
	alone()
	s.last.set(func() {
		held.Close()
		release()
	})
	defer s.last.set(nil)
	err = stream(ctx, s, next, f.count)
	// What was written is distinct whether or not the pool learns that the worker is free:
	// that is a warning, and none beside an error, which has the same cause or is worth more.
	if open := held.Close(); open != nil && err == nil {
		complain(s.err, fmt.Errorf("warning: pool %s: worker %d was not given back, and is not free before %s: %w",
			held.Pool().Name(), held.Worker(), timeText(held.Until()), f.state.explain(open)))
	}
	return f.state.explain(err)
}

// lookBeside returns a function that says so if the pool, which was not there yet, was made beside one for
// the same IDs.
func (f *newFlags) lookBeside(ctx context.Context, s *streams, format format, r recipe, o leased.Options) (say func()) {
	wanted := format.pool(r)
	at, err := f.place()
	if err != nil || !o.Create {
		return func() {}
	}
	if names, err := pools(at.dir); err != nil || slices.Contains(names, wanted.Name) || len(names) == 0 {
		return func() {} // it will have been made before
	}
	return func() { besides(ctx, s, &f.state, o.Store, at, wanted, true) }
}

const (
	// defaultWait is longer than it takes other runs to make a million IDs of any format.
	defaultWait = time.Minute

	patience = 2 * time.Second // that people have with a command that says nothing
)

// sayIfWaiting tells people who see it that there is no worker yet, until the timer is stopped.
func (f *newFlags) sayIfWaiting(s *streams) *time.Timer {
	return time.AfterFunc(patience, func() {
		if e, ok := s.err.(*os.File); ok && term.IsTerminal(int(e.Fd())) && f.wait > patience {
			complain(s.err, fmt.Errorf("waiting for a worker that is free, for up to %v (--wait 0 does not)", f.wait))
		}
	})
}

// leaseOptions says which lease the flags ask for.
func (f *newFlags) leaseOptions(ctx context.Context, format format, r recipe) (o leased.Options, err error) {
	o.Lease.TrustClock, o.Lease.Wait = f.trustClock, f.wait
	if f.wait == 0 {
		o.Lease.Wait = -1
	}
	if f.worker.set {
		o.Lease.Worker = lease.Number(r.worker)
	}
	at, err := f.place()
	if err != nil {
		return o, err
	}
	// The pool of the format and its settings is made when it is first needed. One that people
	// name is not: misspelled, it would give out workers that are taken in the one they meant.
	// Nor is any on a store that machines share: one of a wrong address is empty, too.
	if at.dir != "" && (f.pool == "" || string(f.pool) == format.pool(r).Name) {
		o.Create = true
		o.Store, _, err = f.open(ctx)
		return o, err
	}
	o.Pool = string(f.pool)
	store, at, err := f.look(ctx)
	if err == nil && store == nil {
		err = noPool(o.Pool, at, nil)
	}
	o.Store = store
	return o, err
}

// explainLease is explain, which knows how to make the pool that is not there.
func (f *newFlags) explainLease(err error, format format, o leased.Options) error {
	if !errors.Is(err, lease.ErrNoPool) || o.Create || f.pool != "" {
		return f.state.explain(err)
	}
	line := "firn pool create " + format.name
	for _, name := range []string{"epoch", "clock-bits", "machine-bits"} {
		if flag := f.options.flags.Lookup(name); flag.Changed {
			line += " --" + name + " " + plain(flag.Value.String())
		}
	}
	return &reworded{fmt.Sprintf("pool %s: %v in %s, and none is made by itself in a store that machines share: if there never was one, make it, once: %s; if there was one, it is lost: rescue it: %s",
		poolOf(err), lease.ErrNoPool, o.Store, f.command(line), f.command("firn pool rescue "+poolOf(err)+" --format "+strings.TrimPrefix(line, "firn pool create "))), err}
}

// inspectStore is lease.Inspect.
var inspectStore = lease.Inspect

// warn looks at what a store can lose, while others go on, and returns a function that says so.
func warn(ctx context.Context, s *streams, store driver.Store) (say func()) {
	const longest = time.Second // a store of which a part is away may take long to say so
	ctx, cancel := context.WithTimeout(ctx, longest)
	losses := make(chan []string, 1)
	go func() {
		var texts []string
		found, _ := inspectStore(ctx, store) // what cannot be found out is doctor's to say
		for _, f := range found {
			if f.Loses {
				texts = append(texts, findingText(f))
			}
		}
		losses <- texts
	}()
	return func() {
		defer cancel()
		select {
		case texts := <-losses:
			for _, text := range texts {
				complain(s.err, fmt.Errorf("warning: %s: %s", store, text))
			}
		case <-ctx.Done():
		}
	}
}

// stream writes n IDs. It holds one batch of them in memory, however many they are.
func stream(ctx context.Context, s *streams, next batch, n count) error {
	var lines []byte
	for n > 0 {
		some := int(min(n, maxBatch))
		var err error
		lines, err = next(ctx, lines[:0], some)
		if _, err := s.out.Write(lines); err != nil {
			return err
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if err != nil {
			return err
		}
		n -= count(some)
	}
	return nil
}
